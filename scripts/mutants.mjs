// Deliberate faults: every small change of a TypeScript file that should make some test fail.

import ts from 'typescript';

/**
 * @typedef {{ line: number, from: string, to: string, text: string }} Mutant `text` is the whole file with the fault
 * @typedef {(node: ts.Node, to: string) => void} Replace
 */

/** @type {Record<string, string>} what each operator is changed into */
const OPERATORS = {
  '===': '!==',
  '!==': '===',
  '==': '!=',
  '!=': '==',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '&': '|',
  '|': '&',
  '<<': '>>',
  '>>': '<<',
  '>>>': '<<',
  '+=': '-=',
  '-=': '+=',
  '||=': '&&=',
  '&&=': '||=',
  '??=': '=',
};

/**
 * The negation of each comparison, a mutant beside that of OPERATORS: `a < b` also becomes `a >= b`.
 *
 * @type {Record<string, string>}
 */
const NEGATED = { '<': '>=', '<=': '>', '>': '<=', '>=': '<' };

/**
 * All faults of a file, in the order of the text: types, imports and the texts of messages are left alone.
 *
 * @param {string} name @param {string} source
 */
export function mutantsOf(name, source) {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.ES2022, true, ts.ScriptKind.TS);
  /** @type {Mutant[]} */
  const mutants = [];
  /** @param {ts.Node} node @param {string} to */
  const replace = (node, to) => {
    const from = node.getText(file);
    const start = node.getStart(file);
    const end = node.getEnd();
    const text = source.slice(0, start) + to + source.slice(end);
    const { line } = file.getLineAndCharacterOfPosition(start);
    if (from !== to && !mutants.some((other) => other.text === text)) {
      mutants.push({ line: line + 1, from, to, text });
    }
  };
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (
      ts.isTypeNode(node) ||
      ts.isInterfaceDeclaration(node) ||
      ts.isTypeAliasDeclaration(node) ||
      ts.isImportDeclaration(node)
    ) {
      return;
    }
    mutate(node, replace, file);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return mutants;
}

/** @param {ts.Node} node @param {Replace} replace @param {ts.SourceFile} file */
function mutate(node, replace, file) {
  /** @param {ts.Node} part */
  const text = (part) => part.getText(file);
  if (ts.isBinaryExpression(node)) {
    const operator = text(node.operatorToken);
    for (const other of [OPERATORS[operator], NEGATED[operator]].filter(Boolean)) {
      const changed = `${text(node.left)} ${other} ${text(node.right)}`;
      replace(node, isAssignment(node) ? changed : `(${changed})`);
    }
    if (['&&', '||', '??'].includes(operator)) {
      replace(node, text(node.left));
      replace(node, text(node.right));
    }
    for (const part of [node.left, node.right]) {
      if (ts.isStringLiteral(part) && part.text !== '') {
        replace(part, "''");
      }
    }
  } else if (ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node)) {
    conditions(node.expression, replace, !ts.isIfStatement(node));
  } else if (ts.isForStatement(node) && node.condition !== undefined) {
    conditions(node.condition, replace, true);
  } else if (ts.isConditionalExpression(node)) {
    conditions(node.condition, replace, false);
  } else if (ts.isPrefixUnaryExpression(node)) {
    prefix(node, replace, text);
  } else if (ts.isPostfixUnaryExpression(node)) {
    replace(node, text(node.operand) + (node.operator === ts.SyntaxKind.PlusPlusToken ? '--' : '++'));
  } else if (
    ts.isExpressionStatement(node) ||
    ts.isThrowStatement(node) ||
    ts.isContinueStatement(node) ||
    ts.isBreakStatement(node)
  ) {
    if (!(ts.isExpressionStatement(node) && text(node).startsWith('super('))) {
      replace(node, ';');
    }
  } else if (ts.isReturnStatement(node) && node.expression !== undefined) {
    replace(node, 'return undefined as never;');
  } else if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) {
    replace(node.body, 'undefined as never');
  } else if (ts.isPropertyAccessExpression(node) && node.questionDotToken !== undefined) {
    replace(node, `${text(node.expression)}.${text(node.name)}`);
  } else if (ts.isNumericLiteral(node)) {
    replace(node, String(Number(node.text) + 1));
  } else if (node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword) {
    replace(node, node.kind === ts.SyntaxKind.TrueKeyword ? 'false' : 'true');
  } else if (ts.isCaseClause(node) && node.statements.length > 0) {
    replace(node, `${text(node).slice(0, node.statements[0].getStart(file) - node.getStart(file))}break;`);
  }
}

/**
 * A condition that always holds, and one that never does. A loop that never ends is no fault worth waiting for.
 *
 * @param {ts.Node} node @param {Replace} replace @param {boolean} isLoop
 */
function conditions(node, replace, isLoop) {
  if (!isLoop) {
    replace(node, 'true');
  }
  replace(node, 'false');
}

/** @param {ts.PrefixUnaryExpression} node @param {Replace} replace @param {(part: ts.Node) => string} text */
function prefix(node, replace, text) {
  const operand = text(node.operand);
  if (
    node.operator === ts.SyntaxKind.ExclamationToken ||
    node.operator === ts.SyntaxKind.MinusToken ||
    node.operator === ts.SyntaxKind.TildeToken
  ) {
    replace(node, operand);
  } else if (node.operator === ts.SyntaxKind.PlusPlusToken || node.operator === ts.SyntaxKind.MinusMinusToken) {
    replace(node, (node.operator === ts.SyntaxKind.PlusPlusToken ? '--' : '++') + operand);
  }
}

/** @param {ts.BinaryExpression} node */
function isAssignment(node) {
  const { kind } = node.operatorToken;
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}
