"""The scores of Wang et al. (2013), "Feature Noising for Log-linear Structured Prediction".

Tables 2 to 6. Column names are ours: the paper writes "Drop" for Dropout. All in percent.
"""

# The "CoNLL" rows of tables 2 and 3: named entities as independent tokens. The paper does not name
# the metric, and mentions accuracies in passing.
TABLE2 = {"None": 78.03, "L2": 80.12, "Dropout": 80.90, "+Test": 81.66}
TABLE3 = {"L2": 91.46, "Dropout": 91.81, "+Unlabeled": 92.02}

TABLE4 = {
    "dev": {"None": 89.40, "L2": 90.73, "Dropout": 91.86},
    "test": {"None": 84.67, "L2": 85.82, "Dropout": 87.42},
}

# Genres by their EWT names.
TABLE5 = {
    "newsgroup": {
        "dev": {"None": 91.34, "L2": 91.34, "Dropout": 91.47},
        "test": {"None": 91.44, "L2": 91.44, "Dropout": 91.81},
    },
    "reviews": {
        "dev": {"None": 91.97, "L2": 91.95, "Dropout": 92.10},
        "test": {"None": 90.70, "L2": 90.67, "Dropout": 91.07},
    },
    "answers": {
        "dev": {"None": 90.78, "L2": 90.79, "Dropout": 90.70},
        "test": {"None": 91.00, "L2": 90.99, "Dropout": 91.09},
    },
}

# Split, type, column: (precision, recall, F1).
TABLE6 = {
    "dev": {
        "LOC": {
            "None": (91.47, 91.12, 91.29),
            "L2": (92.05, 92.84, 92.44),
            "Dropout": (93.59, 92.69, 93.14),
        },
        "MISC": {
            "None": (88.77, 81.07, 84.75),
            "L2": (90.51, 83.52, 86.87),
            "Dropout": (93.99, 81.47, 87.28),
        },
        "ORG": {
            "None": (85.22, 84.08, 84.65),
            "L2": (88.35, 85.23, 86.76),
            "Dropout": (92.48, 84.61, 88.37),
        },
        "PER": {
            "None": (92.12, 93.97, 93.04),
            "L2": (93.12, 94.19, 93.65),
            "Dropout": (94.81, 95.11, 94.96),
        },
        "all": {
            "None": (89.84, 88.97, 89.40),
            "L2": (91.36, 90.11, 90.73),
            "Dropout": (93.85, 89.96, 91.86),
        },
    },
    "test": {
        "LOC": {
            "None": (87.33, 84.47, 85.87),
            "L2": (87.96, 86.13, 87.03),
            "Dropout": (86.26, 87.74, 86.99),
        },
        "MISC": {
            "None": (78.93, 77.12, 78.02),
            "L2": (77.53, 79.30, 78.41),
            "Dropout": (81.52, 77.34, 79.37),
        },
        "ORG": {
            "None": (78.70, 79.49, 79.09),
            "L2": (81.30, 80.49, 80.89),
            "Dropout": (88.29, 81.89, 84.97),
        },
        "PER": {
            "None": (88.82, 93.11, 90.92),
            "L2": (90.30, 93.33, 91.79),
            "Dropout": (92.15, 92.68, 92.41),
        },
        "all": {
            "None": (84.28, 85.06, 84.67),
            "L2": (85.57, 86.08, 85.82),
            "Dropout": (88.40, 86.45, 87.42),
        },
    },
}
