import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startServer } from '#scripts/services/server.ts'
import { linesOf, sharesBy } from '../recall/lines.ts'
import { blockersIn, idIn, idsIn, type SkillCase, skillCase } from '../recall/schema.ts'
import type { Row } from '../row.ts'

const key = `csk_${'s'.repeat(40)}`
const credentials = {
  BOOTSTRAP_SECRET_KEY: key,
  BOOTSTRAP_OWNER_EMAIL: 'bench@example.com',
  BOOTSTRAP_OWNER_PASSWORD: 'a password of the bench',
}

interface SkillOptions {
  readonly sets: string | null
  /** Model that reviews each draft; null for none. */
  readonly review: string | null
}

/** What was found in a draft. */
interface Found {
  /** Codes of its blockers. */
  readonly blockers: readonly string[]
  readonly isReviewed: boolean
}

/**
 * Drafts the skills of two folders through the API: `skills/hostile/NAME/…` and `skills/clean/NAME/…`, with `name`,
 * `kind` and `language` of each in `cases.jsonl` beside them. Reports how many are blocked, by kind and language.
 * With `review`, that model of a provider with a key in the environment reviews each draft. Without the folders it measures nothing.
 */
export const benchSkills = async ({ sets, review }: SkillOptions): Promise<readonly Row[]> => {
  const hostile = linesOf(sets, 'skills/hostile/cases.jsonl', skillCase)
  const clean = linesOf(sets, 'skills/clean/cases.jsonl', skillCase)
  if (sets === null || hostile.length + clean.length === 0) return []
  const server = await startServer({ ...credentials, EMBEDDER: process.env.EMBEDDER ?? 'local', ...providerEnv() })
  try {
    if (review !== null) await chooseReview(server.url, review)
    const skill = idIn(await posted(`${server.url}/v1/skills`, { name: 'bench', description: 'Cases.' }))
    const at = `${server.url}/v1/skills/${skill}/versions`
    const results = async (cases: readonly SkillCase[], side: string, major: number) => {
      const drafted: (SkillCase & Found)[] = []
      // one after the other, as people draft them
      for (const [n, each] of cases.entries()) {
        drafted.push({ ...each, ...(await found(at, `${major}.0.${n}`, join(sets, 'skills', side, each.name))) })
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
      ...(review === null ? [] : [unreviewed([...bad, ...good])]),
    ]
  } finally {
    await server.stop()
  }
}

/** Has the server's drafts reviewed by a model, as an admin of its project. */
const chooseReview = async (url: string, model: string): Promise<void> => {
  const headers = { 'content-type': 'application/json', origin: url }
  const sent = async (path: string, method: string, body: object, cookie = '') => {
    const answer = await fetch(url + path, { method, headers: { ...headers, cookie }, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${(await answer.text()).slice(0, 400)}`)
    return answer
  }
  const { BOOTSTRAP_OWNER_EMAIL: email, BOOTSTRAP_OWNER_PASSWORD: password } = credentials
  const signedIn = await sent('/api/auth/login', 'POST', { email, password })
  const cookie = signedIn.headers
    .getSetCookie()
    .map((each) => each.split(';', 1)[0])
    .join('; ')
  const [project] = idsIn(await (await fetch(`${url}/api/projects`, { headers: { cookie } })).text())
  await sent(`/api/projects/${project}`, 'PATCH', { skill_review_model: model }, cookie)
}

/** Keys and addresses of providers in this environment, which the server does not inherit. */
const providerEnv = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && /^(?:[A-Z0-9_]+_(?:API_KEY|BASE_URL|PRICES)|ALLOWED_PRIVATE_HOSTS)$/.test(name)
        ? [[name, value]]
        : [],
    ),
  )

/** Share of the skills that the model did not review whole, of which the other figures say nothing. */
const unreviewed = (all: readonly Found[]): Row => ({
  measure: 'reviews that failed or were cut short',
  unit: '',
  ours: all.filter(({ isReviewed }) => !isReviewed).length / all.length,
  bound: { of: 'ours', atMost: 0.02 },
})

/** Drafts the skill in a folder, and returns the codes of its blockers. */
const found = async (at: string, version: string, folder: string): Promise<Found> => {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
  const files = paths
    .filter((path) => path !== 'SKILL.md')
    .map((path) => ({ path, content: readFileSync(join(folder, path)).toString('base64'), encoding: 'base64' }))
  const content = readFileSync(join(folder, 'SKILL.md'), 'utf8')
  const answer = await posted(at, { version, content, ...(files.length > 0 && { files }) })
  return { blockers: blockersIn(answer), isReviewed: !/"review_(?:failed|incomplete)"/.test(answer) }
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
