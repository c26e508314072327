-- The size of a name in bytes, as it was before toColumn wrote it. It is planned as a part of what calls it.
create function statepad.name_size(name text) returns integer immutable language sql as $size$
  select octet_length(replace(replace(name, chr(1) || chr(2), '.'), chr(1) || chr(1), '.'))
$size$;
