/** Prints a table as Markdown has it; the first row is its head. */
export function print(rows) {
  const widths = rows[0].map((_, index) => Math.max(...rows.map((row) => row[index].length)));
  const line = (row) => `| ${row.map((text, index) => text.padEnd(widths[index])).join(' | ')} |`;
  const [head, ...body] = rows;
  console.log(
    [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body.map(line), ''].join('\n'),
  );
}
