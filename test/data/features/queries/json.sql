select b->>'$.k', json_extract(b, a), json_type(b, '$.*'), json_keys(b, ['k', 'l']), json_array_length(b), json_contains(b, '1'),
       to_json({'a': a, 'l': [d]}), to_json(map {b: a}), json_object('k', f, 'j', b::json), json_merge_patch(b, '{}'),
       b::json::int, b::json::struct(a int, j json), b::json::map(varchar, int[]), try_cast(b::json as double[2]), json_transform(b, '{"a": "DATE"}')
from t
