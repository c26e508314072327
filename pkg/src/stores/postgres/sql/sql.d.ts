// The content of an imported .sql file: its text, without comments and indentation (scripts/sql.mjs).

declare module '*.sql' {
  const text: string;
  export default text;
}
