"""What takes longer than a page may: measuring a project's pairs, and packing an export."""
