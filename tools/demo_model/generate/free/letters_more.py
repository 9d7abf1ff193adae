"""More texts: short ones. The lines are those of letters_data.py."""

MORE = r"""
"""
