"""
Which training rows made this wrong prediction?
===============================================

A model predicts a benign tumour where the tumour is malignant. SHAP would say which columns of
*this* row did it. The training rows behind the prediction say why the model believes so: here, wrong
labels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier

from shapley2d import PredictionExplainer

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
train, test = X.index % 2 == 1, X.index % 2 == 0
X_train, X_test, y_train, y_test = X[train], X[test], y[train].copy(), y[test]

random = np.random.default_rng(0)
malignant = y_train.index[y_train == "malignant"]
wrong = random.choice(malignant, len(malignant) // 5, replace=False)
y_train[wrong] = "benign"  # a fifth of the malignant tumours are mislabelled

model = HistGradientBoostingClassifier(max_iter=30, max_depth=3, random_state=0)
model.fit(X_train, y_train)
missed = X_test[(model.predict(X_test) == "benign") & (y_test == "malignant")]
print(f"{len(missed)} malignant tumours are predicted to be benign")

# %%
# What every training row adds to the log odds of the first of them. All rows add up to the
# prediction, less the model's first guess.
explainer = PredictionExplainer(model, X_train, y_train)
why = explainer.explain(missed.iloc[0], label="benign")
why

# %%
# The rows that pulled it to "benign" most.
top = why.rows(10)
top.assign(mislabelled=top["row"].isin(wrong))

# %%
# Over all missed tumours: how much of the pull to "benign" comes from mislabelled rows?
is_wrong = X_train.index.isin(wrong)
pulls = np.array([explainer.explain(row, "benign").row_values for _, row in missed.iterrows()])
up = np.maximum(pulls, 0).sum(axis=0)
print(f"{is_wrong.mean():.0%} of the rows are mislabelled")
print(f"{up[is_wrong].sum() / up.sum():.0%} of the pull to benign is theirs")

fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
order = np.argsort(-up)[:40]
colors = np.where(is_wrong[order], "#b3432b", "#c9d6d8")
ax.bar(range(len(order)), up[order], color=colors)
ax.set(
    xlabel="training rows, strongest pull first (red: mislabelled)",
    ylabel="pull to benign, log odds",
)
