import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startServer } from '#scripts/services/server.ts'
import { jsonIn } from '../recall/files.ts'
import { linesOf, sharesBy } from '../recall/lines.ts'
import {
  findingsIn,
  idIn,
  idsIn,
  type SkillCase,
  skillCase,
  type WrittenSkill,
  writtenSkills,
} from '../recall/schema.ts'
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
  readonly isBlocked: boolean
  /** Whether a reviewer is pointed to something: a blocker or a warning. */
  readonly isFlagged: boolean
  readonly isReviewed: boolean
}

/**
 * Drafts the skills of two folders through the API: `skills/hostile/NAME/…` and `skills/clean/NAME/…`, with `name`,
 * `kind` and `language` of each in `cases.jsonl` beside them; and those of `skills.json`, which has the files in it.
 * Reports how many are blocked, and how many flagged for review, by kind and language.
 * With `review`, that model of a provider with a key in the environment reviews each draft. Without the folders it measures nothing.
 */
export const benchSkills = async ({ sets, review }: SkillOptions): Promise<readonly Row[]> => {
  const cases = casesIn(sets)
  if (cases.length === 0) return []
  const server = await startServer({ ...credentials, EMBEDDER: process.env.EMBEDDER ?? 'local', ...providerEnv() })
  try {
    if (review !== null) await chooseReview(server.url, review)
    const skill = idIn(await posted(`${server.url}/v1/skills`, { name: 'bench', description: 'Cases.' }))
    const at = `${server.url}/v1/skills/${skill}/versions`
    const drafted: (WrittenSkill & Found)[] = []
    // one after the other, as people draft them
    for (const [n, each] of cases.entries()) drafted.push({ ...each, ...(await found(at, `1.0.${n}`, each)) })
    const by = { kind: ({ kind }: SkillCase) => kind, language: ({ language }: SkillCase) => language }
    const isBlocked = (each: Found): boolean => each.isBlocked
    const isFlagged = (each: Found): boolean => each.isFlagged
    const [bad, good] = [drafted.filter(({ malicious }) => malicious), drafted.filter(({ malicious }) => !malicious)]
    return [
      ...sharesBy(bad, { measure: 'hostile blocked', by, holds: isBlocked, bound: { of: 'ours', atLeast: 0.55 } }),
      ...sharesBy(bad, { measure: 'hostile blocked or flagged', by, holds: isFlagged }),
      ...sharesBy(good, { measure: 'clean blocked', by, holds: isBlocked, bound: { of: 'ours', atMost: 0.03 } }),
      ...sharesBy(good, { measure: 'clean blocked or flagged', by, holds: isFlagged }),
      ...(review === null ? [] : [unreviewed(drafted)]),
    ]
  } finally {
    await server.stop()
  }
}

const casesIn = (sets: string | null): readonly WrittenSkill[] => [
  ...writtenSkills(jsonIn(sets, 'skills.json')),
  ...['hostile', 'clean'].flatMap((side) =>
    linesOf(sets, `skills/${side}/cases.jsonl`, skillCase).map((each) => ({
      ...{ ...each, malicious: side === 'hostile', files: filesIn(join(sets ?? '', 'skills', side, each.name)) },
    })),
  ),
]

/** Files of a folder, in Base64 except for the page of the skill. */
const filesIn = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
      .map((path) => [path, readFileSync(join(folder, path), path === 'SKILL.md' ? 'utf8' : 'base64')]),
  )

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

/** Drafts a skill, and returns what was found in it. */
const found = async (at: string, version: string, { files }: WrittenSkill): Promise<Found> => {
  const { 'SKILL.md': content, ...others } = files
  const answer = await posted(at, {
    ...{ version, content },
    ...(Object.keys(others).length > 0 && {
      files: Object.entries(others).map(([path, each]) => ({ path, content: each, encoding: 'base64' })),
    }),
  })
  const severities = new Set(findingsIn(answer))
  return {
    isBlocked: severities.has('blocker'),
    isFlagged: severities.has('blocker') || severities.has('warning'),
    isReviewed: !/"review_(?:failed|incomplete)"/.test(answer),
  }
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
