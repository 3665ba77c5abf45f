"""Steps for the pipelines of other libraries. Each module needs its library; it is imported only when you import the module."""
