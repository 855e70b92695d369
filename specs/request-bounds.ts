import type { Bound } from './bounds.ts'

/** Bounds of what one request may contain and use. */
export const requestBounds: readonly Bound[] = [
  {
    of: 'connections of callers that are open at once',
    max: 'half of the files that the process may open (RLIMIT_NOFILE)',
    beyond: 'a further one is closed at once, counted (`troupe_connections_refused_total`) and logged once a minute',
    code: ['src/transport/http/connection-limit.ts', 'share'],
    test: [
      'test/transport/http/connection-suite.ts',
      'closes a connection beyond it, serves the open ones, and accepts another when one has closed',
    ],
  },
  {
    of: 'bodies of 16 KB and more that are read or answered at one time',
    max: 'a sixth of the heap; three quarters of that for one project',
    beyond: 'a further one is not read for up to five seconds, then 503 `overloaded`; at once when a thousand wait',
    code: ['src/transport/api/body/body-memory.ts', 'shareOfHeap'],
    test: [
      'test/transport/api/body-memory.test.ts',
      'refuses a body as overloaded after five seconds in the queue, and does not admit it later',
    ],
  },
  {
    of: 'answers of 64 KB and more that clients have not read yet, and pages of logs that are made',
    max: 'the memory of long bodies, together with them',
    beyond: 'a page waits for up to five seconds; a GET is 503 `overloaded`; a stream is ended, resumable',
    code: ['src/transport/api/body/sent-answer-memory.ts', 'SentAnswerMemory'],
    test: [
      'test/transport/api/long-answers.test.ts',
      'use up the memory budget: a further one is 503 overloaded until they are read',
    ],
  },
  {
    of: 'what a body may take to come',
    max: '20 s, and a second more for each 16 KB; of public keys and client tokens 5 s, and a second more for each 32 KB',
    beyond: '408 `body_too_slow`, and the connection closes',
    code: ['src/transport/http/body-pace.ts', 'usual'],
    test: [
      'test/transport/http/pace-suite.ts',
      'refuses a body that is too slow or absent after its grace period, and closes its connection',
    ],
  },
  {
    of: 'a call to a model',
    max: 'an hour, from the request to the last byte of the answer (`MODEL_TOTAL_TIMEOUT_S`)',
    beyond: '504 `provider_timeout`; the turn or run fails with it',
    code: ['src/gateway/call/attempt.ts', '#endsAt'],
    test: ['test/gateway/chat/chat-run.test.ts', 'is aborted at the total timeout: %s'],
  },
  {
    of: 'frames of a WebSocket that wait for the one before them',
    max: '32, and 1 MB of characters together',
    beyond: 'an error frame `rate_limit_exceeded`; `overloaded` for one of 16 KB and more beyond the memory for them',
    code: ['src/transport/streams/session-socket.ts', 'queuedChars'],
    test: [
      'test/transport/streams/session-socket.test.ts',
      'queues 1 MB of frames, and refuses more as rate_limit_exceeded',
    ],
  },
  {
    of: 'the body of a request',
    max: 'per operation',
    beyond: '413 `body_too_large`',
    code: ['specs/dsl/declare.ts', 'maxBodyBytes'],
    test: ['test/transport/http/http-suite.ts', 'refuses a body as soon as it exceeds the limit'],
  },
  {
    of: 'the body of a chat',
    max: '8 MB (`MAX_CHAT_BODY_MB`)',
    beyond: '413 `body_too_large`',
    code: ['specs/dsl/declare.ts', 'defaultChatBodyBytes'],
    test: [
      'test/e2e/agents/bounded-reads.e2e.test.ts',
      'may have 8 MB, or MAX_CHAT_BODY_MB; a larger one is refused with the limit',
    ],
  },
  {
    of: 'values of a JSON body',
    max: '100,000 names, texts, objects and lists, or 800,000 numbers; 20,000 and 160,000 for operations that take 1 MB',
    beyond: '413 `body_too_large`',
    code: ['src/outgoing/shares/json-body.ts', 'maxValues'],
    test: [
      'test/outgoing/json-body.test.ts',
      'contains at most 100,000 names, strings, objects and lists, and eight times as many numbers',
    ],
  },
  {
    of: 'a turn of the loop under a long body',
    max: '50 ms of the processor: beyond 64 KB a body is read, and what is sent of it written, in shares of 8 ms',
    beyond: 'other requests wait for one share',
    code: ['src/concurrency/run-in-slices.ts', 'budgetMs'],
    test: ['test/e2e/gateway/long-bodies.e2e.test.ts', 'a long body blocks no other request for 50 ms ($store)'],
  },
  {
    of: 'a turn of the loop under one event for many streams',
    max: 'shares of 8 ms; 64 commits wait for the one before',
    beyond: 'the last of the streams get the event in a later turn; a stream that a commit passes by reads the log',
    code: ['src/actors/runtime/messages/feed.ts', 'maxWaiting'],
    test: [
      'test/actors/runtime/messages/feed.test.ts',
      'that comes after slow readers receives its events in later turns of the event loop',
    ],
  },
  {
    of: 'a whole answer of a provider',
    max: '32 MB for a chat, 8 MB where a stream was requested, 96 MB for vectors; 128 levels, a million values',
    beyond: 'the answer is left as broken (`provider_stream_broken`), or is no answer (`provider_error`)',
    code: ['src/gateway/chat/whole-answer.ts', 'maxWholeBytes'],
    test: ['test/gateway/chat/long-answers.test.ts', 'without an end, %s, is aborted as broken'],
  },
  {
    of: 'whole answers of providers that are read or handed on at one time',
    max: 'an eighth of the heap, beyond the first 64 KB of each; three quarters of that for one project',
    beyond: '503 `overloaded`, and the rest of the answer is not read',
    code: ['src/outgoing/answer-memory.ts', 'shareOfHeap'],
    test: [
      'test/gateway/chat/long-answers.test.ts',
      'that finds no memory beside others, %s, is refused as overloaded, and what it took is given back',
    ],
  },
  {
    of: 'bytes of a server that a customer names which are no body of an answer',
    max: '256 KB for a request, and 16 for each byte of the body',
    beyond: 'the connection is cut; the request fails as one that was not answered',
    code: ['src/outgoing/wire-bytes.ts', 'freeBytes'],
    test: ['test/outgoing/wire-bytes.test.ts', 'end the connection before its timeout: %s'],
  },
  {
    of: 'names that customers choose and go to the system',
    max: 'one at a time, 64 waiting, 5 seconds',
    beyond: 'the name has no address',
    code: ['src/outgoing/name-lookup.ts', 'maxWaiting'],
    test: ['test/outgoing/name-lookup.test.ts', 'fails with EAI_AGAIN beyond the queue limit of the system resolver'],
  },
  {
    of: 'addresses of a name that customers choose',
    max: '8',
    beyond: 'they are not tried',
    code: ['src/outgoing/ssrf-guard.ts', 'maxAddresses'],
    test: ['test/outgoing/name-lookup.test.ts', 'returns at most eight addresses to connect to'],
  },
  {
    of: 'a packed body',
    max: 'as many bytes as it may have unpacked, and 64 KB',
    beyond: 'it counts as too large',
    code: ['src/outgoing/decompression.ts', 'overheadBytes'],
    test: ['test/outgoing/decompression.test.ts', 'is cut when it has endless parts that decompress into nothing'],
  },
  {
    of: 'choices of one chunk of a streamed answer',
    max: '1,024',
    beyond: 'the answer ends as broken (`provider_stream_broken`)',
    code: ['src/gateway/providers/openai/openai-chunks.ts', 'maxChoices'],
    test: [
      'test/gateway/providers/openai/openai-chunks.test.ts',
      'of 100,000 choices ends the answer as broken, and takes no more time than to be parsed',
    ],
  },
  {
    of: 'a page of events',
    max: '4 MB of JSON',
    beyond: 'the page ends before it, and says that there is more',
    code: ['src/actors/runtime/log/log-page.ts', 'pageMaxBytes'],
    test: [
      'test/e2e/agents/bounded-reads.e2e.test.ts',
      'has at most 4 MB, sets has_more, and is continued after its last event',
    ],
  },
  {
    of: 'streams of one browser on a node',
    max: '16',
    beyond: '429 `too_many_streams`',
    code: ['src/transport/streams/stream-limit.ts', 'maxStreams'],
    test: [
      'test/e2e/agents/bounded-reads.e2e.test.ts',
      'are limited to 16: further ones are refused in the error format of their operation',
    ],
  },
  {
    of: 'nesting of a JSON body',
    max: '64 levels',
    beyond: '422 `invalid_field`',
    code: ['src/outgoing/shares/json-body.ts', 'maxDepth'],
    test: ['test/outgoing/json-body.test.ts', 'may be nested 64 levels deep and no deeper'],
  },
]
