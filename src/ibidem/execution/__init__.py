"""How stages run, not what they compute: threads, disk, Spark, memory, locks."""
