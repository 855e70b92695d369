import { LocalAnswers } from '#storage/local-answers.ts'
import { LocalLimits } from '#storage/local-limits.ts'
import { MemoryExchange } from '../support/memory/fan-out.ts'
import { MemoryPresence } from '../support/memory/presence.ts'
import { answersContract, testedBytes } from './contract/answers.ts'
import { fanOutContract } from './contract/fan-out.ts'
import { limitsContract } from './contract/limits.ts'
import { presenceContract } from './contract/presence.ts'

presenceContract('memory', async () => {
  let now = 1_700_000_000_000
  const presence = new MemoryPresence(() => now)
  const tick = () => {
    now += 20
  }
  return { mine: presence, theirs: presence, tick, close: () => presence.close() }
})

fanOutContract('memory', async () => {
  const exchange = new MemoryExchange()
  const [mine, theirs] = [exchange.join(), exchange.join()]
  return { mine, theirs, close: async () => void (await Promise.all([mine.close(), theirs.close()])) }
})

limitsContract('local', async () => {
  let now = 1_700_000_000_000
  const tick = () => {
    now += 20
  }
  return { views: [new LocalLimits({ steady: () => now })], tick, close: async () => {} }
})

answersContract('local', async () => {
  let now = 1_700_000_000_000
  const tick = () => {
    now += 100
  }
  return { views: [new LocalAnswers({ steady: () => now }, testedBytes)], tick, close: async () => {} }
})
