import { describe } from 'vitest'
import { sseWireSuite } from '#test/transport/streams/sse-wire-suite.ts'
import { connectionSuite } from '../connection-suite.ts'
import { framingSuite } from '../framing-suite.ts'
import { httpSuite } from '../http-suite.ts'
import { streamSuite } from '../stream-suite.ts'
import { websocketSuite } from '../websocket-suite.ts'

describe('node server', () => {
  httpSuite('node')
  connectionSuite('node')
  framingSuite('node')
  streamSuite('node')
  sseWireSuite('node')
  websocketSuite('node')
})
