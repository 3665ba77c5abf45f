"""Results for other programs: spreadsheets, networks, annotations, and the formats of evaluations and code scanners."""
