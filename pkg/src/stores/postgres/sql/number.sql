-- Writes a double as JSON.stringify does. Postgres, too, answers the shortest digits from which the number is read
-- again, with two differences: it writes exponents earlier, and it never answers digits that lie exactly between two
-- doubles (1e+23), where other readers might round otherwise.
create function statepad.number(number double precision) returns text immutable language plpgsql
  set search_path = pg_catalog, pg_temp
  set extra_float_digits = 1
as $number$
declare
  size double precision := abs(number);
  mantissa text := split_part(size::text, 'e', 1);
  exponent integer := coalesce(nullif(split_part(size::text, 'e', 2), ''), '0')::integer;
  -- The number is 0.digits times ten to the power of point.
  digits text := ltrim(replace(mantissa, '.', ''), '0');
  point integer := exponent + strpos(mantissa || '.', '.') - 1 + length(digits) - length(replace(mantissa, '.', ''));
  sign text := case when number < 0 then '-' else '' end;
  shorter text;
begin
  if number = 0 then
    return '0';
  end if;
  digits := rtrim(digits, '0');
  -- From 2^53 on not every integer is a double; beyond 1e41 no text of 17 digits lies between two.
  if size >= 9007199254740992 and size < 1e41 then
    <<shorten>>
    for count in 1..length(digits) - 1 loop
      foreach shorter in array array[left(digits, count), (left(digits, count)::bigint + 1)::text] loop
        if (shorter || 'e' || (point - count))::double precision = size then
          point := point + length(shorter) - count;
          digits := rtrim(shorter, '0');
          exit shorten;
        end if;
      end loop;
    end loop;
  end if;
  return sign || case
    when point between length(digits) and 21 then digits || repeat('0', point - length(digits))
    when point between 1 and 21 then left(digits, point) || '.' || substr(digits, point + 1)
    when point between -5 and 0 then '0.' || repeat('0', -point) || digits
    else left(digits, 1) || case when length(digits) > 1 then '.' || substr(digits, 2) else '' end
      || 'e' || case when point > 0 then '+' else '-' end || abs(point - 1)
    end;
end
$number$;
