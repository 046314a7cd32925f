"""Games: the utility of rows under columns, for functions, models and nearest neighbours.

They know nothing of Shapley values.
"""
