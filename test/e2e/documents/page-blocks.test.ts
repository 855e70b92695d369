import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { requestValidator } from '#specs/dsl/validate.ts'
import { Router } from '#transport/api/router.ts'

const docs = fileURLToPath(new URL('../../../docs', import.meta.url))
/** Pages whose blocks other tests run against a server. */
const elsewhere = ['platform-walkthrough.md', 'gateway-walkthrough.md', 'guardrails.md', 'frontends.md']
const pages = readdirSync(docs).filter((name) => name.endsWith('.md') && !elsewhere.includes(name))

const router = new Router<Operation>()
for (const operation of Object.values<Operation>(operations))
  for (const path of operation.paths)
    router.add(operation.method, path, { target: operation, slashesInLast: operation.slashesInLast })

const blocksOf = (page: string, languages: string): readonly string[] =>
  [
    ...readFileSync(join(docs, page), 'utf8').matchAll(new RegExp(`^\`\`\`(?:${languages})\\n(.*?)^\`\`\`$`, 'gms')),
  ].map(([, block = '']) => block)

/**
 * Runs the commands of a page in a shell in which `curl` only notes what it would send, and no other program exists.
 *
 * @returns the arguments of each curl.
 */
const requestsOf = (page: string): readonly (readonly string[])[] => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-blocks-'))
  const script = blocksOf(page, 'sh|bash').join('\n')
  const names = [...script.matchAll(/\$\{?([A-Za-z_]+)/g)].map(([, name = '']) => [name, 'x'] as const)
  const stubs = 'curl() { printf "%s\\0" "$@" END >&3; }\njq() { echo x; }\ncommand_not_found_handle() { :; }\n'
  const env = { ...Object.fromEntries(names), TROUPE_URL: 'http://server', PATH: folder }
  const { output, status, stderr } = spawnSync('/bin/bash', ['-c', stubs + script], {
    ...{ cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe', 'pipe'] },
  })
  rmSync(folder, { recursive: true })
  expect([status === 2, stderr.includes('syntax error')], stderr).toEqual([false, false])
  const noted = (output[3] ?? '').split('\0END\0')
  return noted.filter((each) => each !== '').map((each) => each.split('\0'))
}

/** Why a request of a page would be refused; null if it would not. */
const faultOf = (args: readonly string[]): string | null => {
  const url = URL.parse(args.find((each) => each.startsWith('http')) ?? '')
  if (url === null) return `${args.join(' ')}: has no address`
  if (!/^\/(v1|api)\//.test(url.pathname)) return null
  const after = (...flags: readonly string[]) => args[args.findIndex((each) => flags.includes(each)) + 1] ?? ''
  const data = args.some((each) => ['-d', '--json', '--data'].includes(each)) ? after('-d', '--json', '--data') : null
  const method = args.includes('-X') ? after('-X') : data !== null || args.includes('-F') ? 'POST' : 'GET'
  const operation = router.find(url.pathname.replaceAll('%E2%80%A6', 'x'))?.methods.get(method)
  if (operation === undefined) return `${method} ${url.pathname}: there is no such operation`
  // an ellipsis stands for what the reader has
  if (data === null || data.startsWith('@') || data.includes('…')) return null
  try {
    requestValidator(operation).body(JSON.parse(data))
    return null
  } catch (error) {
    return `${method} ${url.pathname}: ${error instanceof Error ? error.message : error} ${data}`
  }
}

describe('the blocks of pages', () => {
  it.each(pages.filter((page) => blocksOf(page, 'sh|bash').length > 0))(
    'send requests that the server accepts: %s',
    (page) => {
      const requests = requestsOf(page)
      const written =
        blocksOf(page, 'sh|bash')
          .join('\n')
          .match(/\bcurl -|^memory /gm) ?? []
      expect(requests.length).toBeGreaterThanOrEqual(written.length === 0 ? 0 : written.length - 1)
      expect(requests.map(faultOf).filter((each) => each !== null)).toEqual([])
    },
  )

  it.each(pages.filter((page) => blocksOf(page, 'json').length > 0))('are JSON where they say so: %s', (page) => {
    for (const block of blocksOf(page, 'json')) expect(() => JSON.parse(block), block).not.toThrow()
  })
})
