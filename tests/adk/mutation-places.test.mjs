/**
 * Every line of ADK that changes a session's state record, its list of events, or an event: each one is listed here
 * with the test that runs it or the reason why it can't hurt. A new version of ADK with a new such line fails this.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SOURCES = dirname(fileURLToPath(import.meta.resolve('@google/adk')));
const HERE = dirname(fileURLToPath(import.meta.url));

/** The form of a change in ADK's compiled sources. */
const CHANGE = new RegExp(
  [
    String.raw`session\.state(?:\[[^\]]+\])? = `,
    String.raw`delete \S*(?:session\.state|stateDelta)\[`,
    String.raw`\b(?:events|sessionEvents)\.(?:push|splice|sort|reverse|pop|shift|unshift)\(`,
    String.raw`\b(?:events|sessionEvents)(?:\.length|\[\w+\]) = `,
    String.raw`\b(?:event|userEvent|mergedEvent|compactedEvent|modelResponseEvent)(?:\.\w+)+(?:\[[^\]]+\])? = `,
    String.raw`\.get\([A-Z_]+\)(?:\.push\(|\[\w+\] = )`,
    String.raw`(?:toolCallStates|codeExecutionResults|errorCounts|this\.context)\[[^\]]+\](?: = |\.push\()`,
    String.raw`delete errorCounts`,
    String.raw`\.state\.(?:set|update)\(|\bstate\.set\(`,
  ].join('|'),
  'u',
);

const BEFORE = 'the event is new and not appended yet';
const OWN_LIST = 'a record of its own, never session.events';
const RECORD = "ADK's State writes the record and the delta: every test with a tool or a callback";

/**
 * File, number of such lines, and how they fare: the title of a test, or a reason.
 *
 * @type {[string, number, ...string[]][]}
 */
const PLACES = [
  ['agents/llm_agent.js', 8, 'pruned thoughts go together with an output key', BEFORE],
  [
    'agents/processors/request_confirmation_llm_request_processor.js',
    2,
    'the event that ADK pushes and then yields is in the log once',
  ],
  ['auth/auth_handler.js', 2, 'a tool that asks for a credential finds it in the next turn'],
  ['auth/credential_service/session_state_credential_service.js', 1, RECORD],
  [
    'code_executors/agent_engine_sandbox_code_executor.js',
    2,
    'a key put on the record is read by the rest of the run',
  ],
  ['code_executors/code_executor_context.js', 9, "ADK's code execution, which changes lists that it read from state"],
  [
    'context/agent_controlled_context_compactor.js',
    3,
    'a compactor that the agent asks for reads its temp: flag and takes it away',
  ],
  ['context/anchored_context_compactor.js', 2, 'an anchored scratchpad empties and refills the list of the run'],
  ['context/token_based_context_compactor.js', 2, 'a summary by tokens is pushed, stored once'],
  ['context/trajectory_thought_pruning_compactor.js', 1, 'pruned thoughts are gone for the model and stay in the log'],
  ['context/truncating_context_compactor.js', 1, 'truncating shortens what the model hears'],
  [
    'memory/in_memory_memory_service.js',
    1,
    "ADK's memory service finds what was said in a statepad session",
    OWN_LIST,
  ],
  ['plugins/security_plugin.js', 2, "ADK's security plugin, which changes a record that it read from state"],
  ['tools/agent_tool.js', 1, "what the inner agent writes reaches the parent's state, in every scope"],
  [
    'tools/consolidate_context_tool.js',
    2,
    'a compactor that the agent asks for reads its temp: flag and takes it away',
  ],
  ['tools/openapi_tool/openapi_spec_parser/tool_auth_handler.js', 1, RECORD],
  ['tools/skill/load_skill_tool.js', 1, RECORD],
  ['workflow/base_node.js', 1, BEFORE],
  ['workflow/node_runner.js', 10, 'a node that fails and is tried again writes what the last attempt wrote', BEFORE],
  ['workflow/nodes/function_node.js', 3, 'a node that yields an event of its own with a delta writes it', BEFORE],
  [
    'workflow/run_llm_agent_as_node.js',
    8,
    'LlmAgent nodes side by side append their inputs themselves while the runner appends too',
    BEFORE,
  ],
];

/** Parts of ADK whose changes never meet a statepad session. */
const ELSEWHERE = /^(?:sessions|a2a|models)\//u;

test('every line of ADK that changes a session or an event is known here', () => {
  const found = filesUnder(SOURCES)
    .map((file) => ({
      file: file
        .slice(SOURCES.length + 1)
        .split(sep)
        .join('/'),
      count: readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => CHANGE.test(line)).length,
    }))
    .filter(({ file, count }) => count > 0 && !ELSEWHERE.test(file))
    .map(({ file, count }) => [file, count]);
  assert.deepEqual(
    found,
    PLACES.map(([file, count]) => [file, count]),
  );
});

test('every known place names a test that exists, or a reason', () => {
  const tests = readdirSync(HERE)
    .filter((name) => name.endsWith('.test.mjs') && name !== 'mutation-places.test.mjs')
    .map((name) => readFileSync(join(HERE, name), 'utf8'))
    .join('\n');
  for (const [file, , ...ways] of PLACES) {
    assert.ok(ways.length > 0, `${file} has neither a test nor a reason`);
    for (const way of ways) {
      const reason = [BEFORE, OWN_LIST, RECORD].includes(way);
      assert.ok(
        reason || ["'", '"'].some((quote) => tests.includes(`test(${quote}${way}`)),
        `${file}: there is no test called "${way}…"`,
      );
    }
  }
});

/** @param {string} folder @returns {string[]} the .js files in it and below, sorted */
function filesUnder(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(folder, name))
    .sort();
}
