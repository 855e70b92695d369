import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startServer } from '#scripts/services/server.ts'
import { linesOf, sharesBy } from '../recall/lines.ts'
import { blockersIn, idIn, type SkillCase, skillCase } from '../recall/schema.ts'
import type { Row } from '../row.ts'

const key = `csk_${'s'.repeat(40)}`

/**
 * Drafts the skills of two folders through the API: `skills/hostile/NAME/…` and `skills/clean/NAME/…`, with `name`,
 * `kind` and `language` of each in `cases.jsonl` beside them. Reports how many are blocked, by kind and language.
 * Without the folders it measures nothing.
 */
export const benchSkills = async (sets: string | null): Promise<readonly Row[]> => {
  const hostile = linesOf(sets, 'skills/hostile/cases.jsonl', skillCase)
  const clean = linesOf(sets, 'skills/clean/cases.jsonl', skillCase)
  if (sets === null || hostile.length + clean.length === 0) return []
  const server = await startServer({ BOOTSTRAP_SECRET_KEY: key })
  try {
    const skill = idIn(await posted(`${server.url}/v1/skills`, { name: 'bench', description: 'Cases.' }))
    const at = `${server.url}/v1/skills/${skill}/versions`
    const results = async (cases: readonly SkillCase[], side: string, major: number) => {
      const drafted: (SkillCase & { readonly blockers: readonly string[] })[] = []
      // one after the other, as people draft them
      for (const [n, each] of cases.entries()) {
        const blockers = await blockersOf(at, `${major}.0.${n}`, join(sets, 'skills', side, each.name))
        drafted.push({ ...each, blockers })
      }
      return drafted
    }
    const by = { kind: ({ kind }: SkillCase) => kind, language: ({ language }: SkillCase) => language }
    const isBlocked = ({ blockers }: { readonly blockers: readonly string[] }): boolean => blockers.length > 0
    const bad = await results(hostile, 'hostile', 1)
    const good = await results(clean, 'clean', 2)
    return [
      ...sharesBy(bad, { measure: 'hostile blocked', by, holds: isBlocked, bound: { of: 'ours', atLeast: 0.55 } }),
      ...sharesBy(good, { measure: 'clean blocked', by, holds: isBlocked, bound: { of: 'ours', atMost: 0.03 } }),
    ]
  } finally {
    await server.stop()
  }
}

/** Drafts the skill in a folder, and returns the codes of its blockers. */
const blockersOf = async (at: string, version: string, folder: string): Promise<readonly string[]> => {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
  const files = paths
    .filter((path) => path !== 'SKILL.md')
    .map((path) => ({ path, content: readFileSync(join(folder, path)).toString('base64'), encoding: 'base64' }))
  const content = readFileSync(join(folder, 'SKILL.md'), 'utf8')
  return blockersIn(await posted(at, { version, content, ...(files.length > 0 && { files }) }))
}

const posted = async (url: string, body: object): Promise<string> => {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  if (answer.status !== 201) throw new Error(`${url}: ${answer.status} ${text.slice(0, 400)}`)
  return text
}
