import { describe } from 'vitest'
import { sseWireSuite } from '#test/transport/streams/sse-wire-suite.ts'
import { connectionSuite } from '../connection-suite.ts'
import { framingSuite } from '../framing-suite.ts'
import { httpSuite } from '../http-suite.ts'
import { paceSuite } from '../pace-suite.ts'
import { streamSuite } from '../stream-suite.ts'
import { websocketSuite } from '../websocket-suite.ts'

describe('uws server', () => {
  httpSuite('uws')
  paceSuite('uws')
  connectionSuite('uws')
  framingSuite('uws')
  streamSuite('uws')
  sseWireSuite('uws')
  websocketSuite('uws')
})
