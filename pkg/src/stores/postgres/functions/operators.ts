// The functions inside the database that say what an operator comes to: the rules of `resolveOperator`, on JSON texts.

/** The largest double, and half the distance from it to what would be the next one. */
const [LARGEST, HALF_A_STEP] = [Number.MAX_VALUE, 2 ** 970];
/** From here on not every integer is a double; beyond the second number, no text of 17 digits lies between two. */
const [LARGE, TOO_LARGE] = [2 ** 53, 1e41];

/**
 * The function that writes a double as `JSON.stringify` does. Postgres, too, answers the shortest digits from which
 * the number is read again, with two differences: it writes exponents earlier, and it never answers digits that lie
 * exactly between two doubles (1e+23), where other readers might round otherwise.
 */
export function numberFunction(schema: string): string {
  return `create function ${schema}.number_v2(number double precision) returns text immutable language plpgsql
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
  if size >= ${LARGE} and size < ${TOO_LARGE} then
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
$number$`;
}

/**
 * The function that says what an operator comes to: a JSON text, or a fault behind an exclamation mark, with which no
 * JSON text begins. `operand`, `expected` and `present` (the value that is there) are JSON texts, the latter two null
 * where there is none.
 */
export function resolveFunction(schema: string): string {
  return `create function ${schema}.resolve_v2(operator text, operand text, expected text, present text) returns text immutable
language plpgsql set search_path = pg_catalog, pg_temp
as $resolve$
declare
  number double precision;
  summand double precision;
begin
  case operator
    when 'increment' then
      if strpos('-0123456789', left(present, 1)) = 0 then
        return '!kind';
      end if;
      number := coalesce(present, '0')::double precision;
      summand := operand::double precision;
      -- Beyond a double, where Postgres would fail: both differences are exact.
      if sign(number) = sign(summand) and greatest(abs(number), abs(summand)) >= ${LARGEST / 2}
        and least(abs(number), abs(summand)) >= ${LARGEST} - greatest(abs(number), abs(summand)) + ${HALF_A_STEP}
      then
        return '!overflow';
      end if;
      number := number + summand;
      if abs(number) < 1e15 and number = trunc(number) then
        return number::bigint;
      end if;
      return ${schema}.number_v2(number);
    when 'append' then
      if left(present, 1) <> '[' then
        return '!kind';
      elsif present is null or present = '[]' then
        return operand;
      elsif operand = '[]' then
        return present;
      end if;
      return left(present, -1) || ',' || substr(operand, 2);
    when 'setOnce' then
      return coalesce(present, operand);
    when 'compareAndSet' then
      return case when present is not distinct from expected then operand else '!changed' end;
  end case;
end
$resolve$`;
}

/** A call of the function that {@link resolveFunction} makes. */
export function resolveCall(
  schema: string,
  operator: string,
  operand: string,
  expected: string,
  value: string,
): string {
  return `${schema}.resolve_v2(${operator}, ${operand}, ${expected}, ${value})`;
}
