import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SimulatedProvider, startSimulatedProvider } from '#gateway/simulated/server.ts'
import { openAiForPython } from '../openai-python/install.ts'
import { World } from '../world.ts'
import { differenceOf, examplesOf, linesOf, type PageExample } from './page-examples.ts'

const examplesIn = (page: string) => examplesOf(readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8'))
const examples = examplesIn('gateway-walkthrough.md')
const python = openAiForPython()

/** Above the duration of any example on a busy machine. */
const limit = { timeout: 120_000 }

it('the gateway walkthrough has more than 20 examples', () => {
  expect(examples.length).toBeGreaterThan(20)
})

describe('the gateway walkthrough', () => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-examples-'))
  let world: World
  let own: SimulatedProvider

  beforeAll(async () => {
    symlinkSync(fileURLToPath(new URL('../../../node_modules', import.meta.url)), join(folder, 'node_modules'))
    own = await startSimulatedProvider({ chunkDelayMs: 0 })
    world = await World.start({ tools: [{ host: new URL(own.url).host }] })
  }, limit.timeout)

  afterAll(async () => {
    await world.stop()
    await own.close()
    rmSync(folder, { recursive: true, force: true })
  }, limit.timeout)

  const printsIt = async ({ example }: { readonly example: PageExample }) => {
    const { form, text } = example.prints
    const printed = await run(example)
    if (form === 'json') expect(differenceOf(JSON.parse(text), JSON.parse(printed)), printed).toBeNull()
    else expect(printed).toMatch(linesOf(text))
  }
  it.each(numbered(examples))('prints the output of the page: $name', limit, printsIt)
  it.each(numbered(examplesIn('guardrails.md')))(
    'prints the output of the page about guardrails: $name',
    limit,
    printsIt,
  )

  const run = async (example: PageExample): Promise<string> => {
    const [command, args] = commandOf(example, folder)
    const env = {
      ...process.env,
      TROUPE_URL: world.url,
      TROUPE_KEY: world.secretKey,
      TROUPE_EMAIL: world.ownerEmail,
      TROUPE_PASSWORD: world.ownerPassword,
      MODEL_SERVER: own.url,
      PYTHONPATH: python ?? '',
      PYTHONDONTWRITEBYTECODE: '1',
    }
    const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let printed = ''
    let said = ''
    child.stdout.on('data', (part) => {
      printed += part
    })
    child.stderr.on('data', (part) => {
      said += part
    })
    const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject))
    expect(code, `${example.code}\n${printed}\n${said}`).toBe(0)
    return printed
  }
})

function numbered(all: readonly PageExample[]) {
  return all
    .filter(({ language }) => language !== 'python' || python !== null)
    .map((example, place) => ({ name: `${place + 1} ${example.language}`, example }))
}

function commandOf({ language, code }: PageExample, folder: string): readonly [string, string[]] {
  if (language === 'sh') return ['bash', ['-euo', 'pipefail', '-c', code]]
  const file = join(folder, language === 'js' ? 'example.mjs' : 'example.py')
  writeFileSync(file, code)
  return [language === 'js' ? process.execPath : 'python3', [file]]
}
