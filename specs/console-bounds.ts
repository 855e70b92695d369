import type { Bound } from './bounds.ts'

/** Bounds of histories, and of the console's requests. */
export const consoleBounds: readonly Bound[] = [
  {
    of: 'events that a fork of a session copies',
    max: '192 KB, with what is long beside them in blobs',
    beyond: 'the earliest turns are kept as what the model reads of them, without their events',
    code: ['src/actors/sessions/fork-history.ts', 'maxForkLength'],
    test: [
      'test/actors/sessions/fork.test.ts',
      'keeps its newest turns as events, and earlier turns as a conversation',
    ],
  },
  {
    of: 'a field of a context in the history of an actor',
    max: '1,000 characters of JSON; texts of 64',
    beyond: 'its length stands in its place',
    code: ['src/actors/runtime/step/context-change.ts', 'longestField'],
    test: [
      'test/actors/runtime/step/context-change.test.ts',
      'contains no long text and no text that may be JSON, and its size is bounded',
    ],
  },
  {
    of: 'failed attempts in a line of the request log',
    max: '20',
    beyond: 'later ones are counted in `attempts` only',
    code: ['src/gateway/call/accounting/call-ledger.ts', 'maxFailedAttempts'],
    test: [
      'test/gateway/call/accounting/call-record.test.ts',
      'keeps the first 20 failed attempts, without the API key',
    ],
  },
]
