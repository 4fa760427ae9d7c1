select r.a, random() as x, random() as y
from (select a, random() as w from t where random() < 0.25) r join u on a = n
where w < 0.5
