"""Games: the utility of rows under columns, for functions, models and nearest neighbours.

Know nothing of Shapley.
"""
