import { capabilities } from '#actors/capabilities.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { accounts } from './accounts.ts'
import { agents } from './agents.ts'
import { browser } from './browser.ts'
import { clientTokens } from './client-tokens.ts'
import { connections } from './connections.ts'
import type { EstatePart } from './estate-part.ts'
import { gateway } from './gateway.ts'
import { guardrails } from './guardrails.ts'
import { knowledge } from './knowledge.ts'
import { mcp } from './mcp.ts'
import { memory } from './memory.ts'
import { observation } from './observation.ts'
import { operators } from './operators.ts'
import { prompts } from './prompts.ts'
import { runs } from './runs.ts'
import { sessions } from './sessions.ts'
import { skills } from './skills.ts'
import { tenants } from './tenants.ts'
import { usage } from './usage.ts'
import { web } from './web.ts'
import { webhooks } from './webhooks.ts'

/**
 * Parts of the estate by capability, in the order in which they are created. A capability whose declarations suffice has
 * no entry.
 */
const parts: Readonly<Record<string, EstatePart>> = {
  ...{ accounts, tenants, agents, sessions, runs, webhooks, guardrails, gateway, usage, memory, prompts, skills },
  client_tokens: clientTokens,
  ...{ knowledge, web, connections, browser, mcp, operators, observation },
}

const all = Object.values(parts)

const joined = <T>(of: (part: EstatePart) => Readonly<Record<string, T>> | undefined): Readonly<Record<string, T>> =>
  Object.assign({}, ...all.map((part) => of(part) ?? {}))

const listed = <T>(of: (part: EstatePart) => readonly T[] | undefined): readonly T[] =>
  all.flatMap((part) => of(part) ?? [])

/** All parts merged; `EstatePart` describes each field. */
export const declaredEstate = {
  makes: listed(({ make }) => (make === undefined ? [] : [make])),
  bodies: joined(({ bodies }) => bodies),
  once: joined(({ once }) => once),
  absent: joined(({ absent }) => absent),
  common: new Set(listed(({ common }) => common)),
  chosen: new Set(listed(({ chosen }) => chosen)),
  noIds: new Set(listed(({ noIds }) => noIds)),
  changing: new Set(listed(({ changing }) => changing)),
  atWork: listed(({ atWork }) => (atWork === undefined ? [] : [atWork])),
  passesOn: listed(({ passesOn }) => passesOn),
  shownBy: joined(({ shownBy }) => shownBy),
  beyondSchema: joined(({ beyondSchema }) => beyondSchema),
} as const

/** The file with the estate part of an operation's capability. */
export const partFileOf = ({ id }: Pick<Operation, 'id'>): string => {
  const owner = capabilities.find(({ operations }) => id in operations)?.name ?? ''
  // skills and prompts are two capabilities each, and rate plans belong to usage
  const name = { skill_contents: 'skills', rate_plans: 'usage', prompt_versions: 'prompts' }[owner] ?? owner
  const isNew = parts[name] === undefined ? ' (a new file, with a line in parts.ts there)' : ''
  return `test/e2e/sweep/estate/${name.replaceAll('_', '-')}.ts${isNew}`
}
