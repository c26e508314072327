// What an imported .sql file is: its text, without comments and indentation (scripts/sql.mjs).

declare module '*.sql' {
  const text: string;
  export default text;
}
