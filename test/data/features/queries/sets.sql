(select a from t union select n from u) intersect select k from r
