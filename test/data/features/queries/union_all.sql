select a from t union all select k from r
