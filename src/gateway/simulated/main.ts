import { readCommandLine } from '#src/start/command-line.ts'
import { startSimulatedProvider } from './server.ts'

const usage = [
  'usage: npm run simulated-provider',
  '',
  "Starts the simulated model as a server with OpenAI's API. PORT (7199), HOST (127.0.0.1) and CHUNK_DELAY_MS (15) are variables.",
].join('\n')
readCommandLine({ usage, options: {} })

/** `npm run simulated-provider`: PORT (7199), HOST (127.0.0.1), CHUNK_DELAY_MS (15) from the environment. */
const provider = await startSimulatedProvider({
  port: wholeNumber('PORT', 7199),
  host: process.env.HOST ?? '127.0.0.1',
  chunkDelayMs: wholeNumber('CHUNK_DELAY_MS', 15),
})
process.stdout.write(`simulated provider on ${provider.url} (OPENAI_BASE_URL=${provider.url}, model simulated-1)\n`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void provider.close())

function wholeNumber(name: string, otherwise: number): number {
  const value = process.env[name] ?? ''
  if (value === '') return otherwise
  if (!/^\d{1,6}$/.test(value)) throw new Error(`${name} must be a whole number`)
  return Number(value)
}
