"""How stages run, never what they compute: threads, disk, Spark, memory, locks."""
