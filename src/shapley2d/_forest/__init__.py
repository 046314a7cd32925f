"""Tree ensembles with their splits held fixed, whose cells have exact values in closed form."""
