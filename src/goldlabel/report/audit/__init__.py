"""The sections of an audit's page, a file for each thing they show; ``audit_page.py`` puts them together."""
