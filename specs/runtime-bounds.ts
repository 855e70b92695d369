import type { Bound } from './bounds.ts'

/** Bounds of the actor runtime. */
export const runtimeBounds: readonly Bound[] = [
  {
    of: 'lines of the log that its reader has not taken',
    max: '1 MB',
    beyond: 'lines are lost, and counted in the log when it is read again',
    code: ['src/telemetry/log-output.ts', 'defaultMaxBytes'],
    test: [
      'test/telemetry/log-output.test.ts',
      'continues without a reader, buffers up to its limit, and reports lost lines when it is read again',
    ],
  },
  {
    of: 'a commit',
    max: '256 KB of JSON',
    beyond: 'long values go to the blob store',
    code: ['src/actors/runtime/commit/commit-document.ts', 'maxCommitLength'],
    test: [
      'test/actors/runtime/commit/commit-document.test.ts',
      'is at most 256 KB long with a snapshot of at most 32 KB, however many fields make it long',
    ],
  },
  {
    of: 'a snapshot',
    max: '32 KB of JSON',
    beyond: 'long fields go to the blob store',
    code: ['src/actors/runtime/commit/commit-document.ts', 'maxSnapshotLength'],
    test: [
      'test/actors/runtime/commit/commit-document.test.ts',
      'is at most 256 KB long with a snapshot of at most 32 KB, however many fields make it long',
    ],
  },
  {
    of: 'a blob',
    max: '15 MB',
    beyond: '413 `body_too_large`; the result of an effect ends it as failed',
    code: ['src/actors/runtime/commit/commit-document.ts', 'maxBlobBytes'],
    test: [
      'test/actors/runtime/commit/commit-document.test.ts',
      'is refused without a write if a field is longer than a store accepts',
    ],
  },
  {
    of: 'the mailbox of an actor',
    max: '1,000 deliveries',
    beyond: '503 `overloaded` with Retry-After; messages are sent again',
    code: ['src/actors/runtime/step/stepper.ts', 'maxWaiting'],
    test: [
      'test/actors/runtime/mailbox.test.ts',
      'accepts a thousand deliveries, refuses more for now, and loses none that it accepted',
    ],
  },
  {
    of: 'rows that are not written, and messages that are not delivered, together',
    max: '50,000 a process',
    beyond: '503 `overloaded` with Retry-After; what effects bring, and messages themselves, are taken',
    code: ['src/actors/runtime/host.ts', 'usualBehind'],
    test: [
      'test/actors/runtime/mailbox.test.ts',
      'refuses deliveries and creations while too many rows are unwritten, and accepts them afterwards',
    ],
  },
  {
    of: 'messages that are not delivered to one actor, such as a parked one',
    max: '5,000 a process',
    beyond: 'requests that would send to it: 503 `actor_parked` while it is parked, otherwise `overloaded`; no others',
    code: ['src/actors/runtime/messages/outbox.ts', 'maxShareOfActor'],
    test: [
      'test/actors/runtime/mailbox.test.ts',
      'refuses what sends to a parked actor for which too much waits, and nothing else',
    ],
  },
  {
    of: 'commits of an actor that are on their way to the store',
    max: '1, so that the queue of appends is as long as there are actors at work',
    beyond: 'deliveries wait in the mailbox',
    code: ['src/actors/runtime/step/stepper.ts', '#work'],
    test: ['test/actors/runtime/mailbox.test.ts', 'writes one commit of an actor at a time'],
  },
  {
    of: 'conversations in memory',
    max: '32 MB, and five minutes each without use',
    beyond: 'those not used for longest are read from their logs again',
    code: ['src/actors/sessions/conversations.ts', 'maxKept'],
    test: [
      'test/actors/sessions/conversations.test.ts',
      'evicts the least recently used conversations beyond its size limit',
    ],
  },
  {
    of: 'what a request waits for rows, by a store that takes them slowly',
    max: '20 s; 800 ms while it takes none',
    beyond: '503 `overloaded`, or `store_unavailable`, with Retry-After',
    code: ['src/actors/runtime/rows/row-writer.ts', 'patienceMs'],
    test: [
      'test/actors/runtime/rows/row-writer.test.ts',
      'lets reads wait for a slow store, and throws Overloaded if that takes too long',
    ],
  },
  {
    of: 'live actors in memory',
    max: '20,000 that have nothing to do; a minute each without use',
    beyond: 'those that have been left alone for a second leave memory at once',
    code: ['src/actors/runtime/runtime.ts', 'residency'],
    test: [
      'test/actors/runtime/log/janitor.test.ts',
      'removes actors beyond the limit as soon as they are idle, and keeps those with running effects',
    ],
  },
  {
    of: 'commits that wait to be closed',
    max: '300,000 while the store is away',
    beyond: 'the rest is closed after the next start, or the next look at open commits',
    code: ['src/actors/runtime/commit/settler.ts', 'maxKept'],
    test: [
      'test/actors/runtime/commit/settler.test.ts',
      'keeps what the store does not accept for the next attempt, up to a limit',
    ],
  },
  {
    of: 'effects that may have ended their process, begun together',
    max: '16, or one that runs alone',
    beyond: 'the others wait for their turn',
    code: ['src/actors/runtime/effects/suspects.ts', 'few'],
    test: [
      'test/actors/runtime/effects/suspects.test.ts',
      'suspects run sixteen at a time in order of arrival, and one that runs alone runs without others',
    ],
  },
  {
    of: 'spans that wait for an OTLP receiver',
    max: '8,192, and 5 seconds at the end of the process',
    beyond: 'spans are lost, and counted in the log',
    code: ['src/telemetry/otlp-exporter.ts', 'maxWaiting'],
    test: ['test/telemetry/otlp-exporter.test.ts', 'that stalls are queued up to a limit, and further spans are lost'],
  },
  {
    of: 'webhooks of a project',
    max: '100',
    beyond: '422 `webhook_limit_reached`',
    code: ['specs/resources/webhooks.ts', 'maxWebhooks'],
    test: [
      'test/actors/webhooks/webhooks.test.ts',
      'is one of at most a hundred of its project, also when they are created at the same time',
    ],
  },
  {
    of: 'attempts to deliver webhooks that run at a time on a node',
    max: '16 of one webhook, 256 of one project',
    beyond: 'the others wait for their turn',
    code: ['src/actors/webhooks/open-webhooks.ts', 'attemptsAtOnce'],
    test: [
      'test/actors/webhooks/attempt-gate.test.ts',
      'limits the concurrent attempts of one project, without blocking other projects',
    ],
  },
  {
    of: 'attempts to deliver webhooks that wait for their turn in a process',
    max: '500 of one webhook, 1,000 of one project, 4,000 in all',
    beyond: 'they wait in the store, and come back as fast as the endpoint answers, within the hour',
    code: ['src/actors/webhooks/open-webhooks.ts', 'waitingAttempts'],
    test: [
      'test/actors/webhooks/deliveries.test.ts',
      'wait in the store beyond a bounded line, even across a crash, and are all delivered once it answers',
    ],
  },
]
