-- Says what an operator comes to, by the rules of resolveOperator: a JSON text, or a fault behind an exclamation mark,
-- with which no JSON text begins. operand, expected and present (the value that is there) are JSON texts, the latter
-- two null where there is none.
create function statepad.resolve(operator text, operand text, expected text, present text) returns text immutable
language plpgsql
  set search_path = pg_catalog, pg_temp
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
      -- Beyond the largest double and half the distance to what would be the next one (2^970), where Postgres would
      -- fail: both differences are exact.
      if sign(number) = sign(summand) and greatest(abs(number), abs(summand)) >= 8.988465674311579e307
        and least(abs(number), abs(summand))
          >= 1.7976931348623157e308 - greatest(abs(number), abs(summand)) + 9.9792015476736e291
      then
        return '!overflow';
      end if;
      number := number + summand;
      if abs(number) < 1e15 and number = trunc(number) then
        return number::bigint;
      end if;
      return statepad.number(number);
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
$resolve$;
