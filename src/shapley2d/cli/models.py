"""Models by name, as scikit-learn pipelines with settings that suit small coalitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from shapley2d.cli.choices import ModelName
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


_CLASSIFIERS_ONLY = (ModelName.LOGISTIC, ModelName.BAYES)


def make_model(name: ModelName, task: str, n_neighbors: int = 10) -> Any:
    """Build a model.

    Parameters
    ----------
    name : ModelName
    task : {"classification", "regression"}
    n_neighbors : int
        Of ``knn``.

    Examples
    --------
    >>> make_model(ModelName.TREE, "regression")
    DecisionTreeRegressor()
    """
    from sklearn import ensemble, linear_model, naive_bayes, tree
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    classify = task == "classification"
    if not classify and name in _CLASSIFIERS_ONLY:
        raise InputError(
            f"--model {name} predicts classes, but the target holds numbers: use --model ridge, forest or tree, or "
            "say --task classification"
        )
    match name:
        case ModelName.TREE:
            return tree.DecisionTreeClassifier() if classify else tree.DecisionTreeRegressor()
        case ModelName.FOREST:
            forest = ensemble.RandomForestClassifier if classify else ensemble.RandomForestRegressor
            return forest(n_estimators=50)
        case ModelName.BOOSTING:
            if classify:
                return ensemble.HistGradientBoostingClassifier(max_iter=50, min_samples_leaf=5)
            return ensemble.HistGradientBoostingRegressor(max_iter=50, min_samples_leaf=5)
        case ModelName.LOGISTIC:
            return make_pipeline(StandardScaler(), linear_model.LogisticRegression(max_iter=1000))
        case ModelName.RIDGE:
            ridge = linear_model.RidgeClassifier() if classify else linear_model.Ridge()
            return make_pipeline(StandardScaler(), ridge)
        case ModelName.BAYES:
            return naive_bayes.GaussianNB(var_smoothing=1e-6)
        case ModelName.KNN:
            voters = NeighborsClassifier if classify else NeighborsRegressor
            return make_pipeline(StandardScaler(), voters(n_neighbors))


class _FewNeighbors(BaseEstimator):  # type: ignore[misc]
    """K nearest neighbours that make do with fewer than K rows, as coalitions have them."""

    def __init__(self, n_neighbors: int = 10) -> None:
        self.n_neighbors = n_neighbors

    def _neighbors(self) -> Any:
        raise NotImplementedError

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> _FewNeighbors:
        self.model_ = self._neighbors()(n_neighbors=min(self.n_neighbors, len(X))).fit(X, y)
        if hasattr(self.model_, "classes_"):
            self.classes_ = self.model_.classes_
        return self

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.model_.predict(X))


class NeighborsClassifier(ClassifierMixin, _FewNeighbors):  # type: ignore[misc]
    """The vote of the nearest rows."""

    def _neighbors(self) -> Any:
        from sklearn.neighbors import KNeighborsClassifier

        return KNeighborsClassifier

    def predict_proba(self, X: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.model_.predict_proba(X))


class NeighborsRegressor(RegressorMixin, _FewNeighbors):  # type: ignore[misc]
    """The mean of the nearest rows."""

    def _neighbors(self) -> Any:
        from sklearn.neighbors import KNeighborsRegressor

        return KNeighborsRegressor
