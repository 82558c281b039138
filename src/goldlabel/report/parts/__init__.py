"""What a report is made of: a file for each kind of result folder, which reads it and tells of it.

The figures are those that the rooms wrote; nothing is scored here.
"""
