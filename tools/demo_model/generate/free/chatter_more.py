MORE = r"""
"""
