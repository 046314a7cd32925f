"""What a method is: the base class, the run, the identity of a run, baselines and scores."""
