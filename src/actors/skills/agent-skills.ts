import { type Json, projectScope } from '#storage/index.ts'
import type { AgentPlace, AgentResource, Offer, ServerToolCall, ToolOutcome } from '../capability/agent-resources.ts'
import type { Row } from '../records/schema.ts'
import { isObject } from '../runtime/index.ts'
import type { SkillVersionData } from './kinds.ts'
import { type SkillFiles, skillFile } from './skill-files.ts'
import type { SkillReference, SkillVersions } from './skill-versions.ts'

/** Maximum number of characters of a file that one call returns: the limit of a tool's output. */
const maxLoaded = 60_000

const noSkill: Offer = { instructions: [], tools: [] }

/**
 * Skills in the turns and runs of agents. The model sees the name and description of each skill, and loads a skill when
 * a task needs it (`load_skill`). It loads other files of the skill only when SKILL.md refers to them.
 */
export const agentSkills = (parts: {
  readonly versions: SkillVersions
  readonly files: SkillFiles
}): AgentResource => ({
  name: 'skills',
  fields: ['skills'],
  missing: async ({ project }, declared) => {
    const reference = referenceOf(declared)
    if (reference === null) return 'A skill must be its id, or an object with skill_id and version.'
    if ((await parts.versions.resolve(project, reference)) !== null) return null
    const which = reference.version === null ? 'published version' : `published version ${reference.version}`
    return `There is no ${which} of the skill ${reference.skillId}.`
  },
  offer: async (place, declared) => offerOf(await resolved(parts.versions, place, declared)),
  run: (call) => load(parts, call),
})

interface Loadable {
  readonly name: string
  readonly row: Row<SkillVersionData>
}

const resolved = async (
  versions: SkillVersions,
  { project }: AgentPlace,
  declared: readonly Json[],
): Promise<readonly Loadable[]> => {
  const references = declared.map(referenceOf).filter((each) => each !== null)
  const found = await Promise.all(
    references.map(async (reference): Promise<readonly Loadable[]> => {
      const row = await versions.resolve(project, reference)
      if (row === null) return []
      const { data } = await versions.skill(projectScope(project), reference.skillId)
      return [{ name: data.name, row }]
    }),
  )
  return found.flat()
}

const offerOf = (skills: readonly Loadable[]): Offer => {
  if (skills.length === 0) return noSkill
  const lines = skills.map(({ name, row }) => `- ${name}: ${row.data.description}`)
  return {
    instructions: [
      `Skills that load_skill returns, to be loaded before a task that they describe:\n${lines.join('\n')}`,
    ],
    tools: [
      {
        type: 'server',
        name: 'load_skill',
        description: 'Returns the instructions of a skill, or a file that they mention.',
        parameters: {
          type: 'object',
          properties: {
            name: { type: 'string', enum: skills.map(({ name }) => name) },
            file: { type: 'string', description: 'Path of a file of the skill. Default: its instructions.' },
          },
          required: ['name'],
        },
        resource: 'skills',
        settings: {
          versions: Object.fromEntries(skills.map(({ name, row }) => [name, [row.data.skill_id, row.data.version]])),
        },
        effect: 'idempotent',
      },
    ],
  }
}

const load = async (
  { versions, files }: { readonly versions: SkillVersions; readonly files: SkillFiles },
  { project, tool, arguments: given }: ServerToolCall,
): Promise<ToolOutcome> => {
  const { name, file = skillFile } = isObject(given) ? given : {}
  const known = isObject(tool.settings.versions) ? tool.settings.versions : {}
  const [skillId, version] = typeof name === 'string' && Object.hasOwn(known, name) ? pairOf(known[name]) : []
  if (skillId === undefined || version === undefined)
    return failed('skill_not_found', `There is no skill ${String(name)}.`)
  const row = await versions.resolve(project, { skillId, version })
  const stored = row?.data.files.find(({ path }) => path === file)
  const read = stored === undefined ? null : await files.read(project, stored)
  if (read === null) return failed('file_not_found', `The skill has no file ${String(file)}.`)
  if (read.encoding === 'base64') return failed('file_not_text', `The file ${read.path} is not a text file.`)
  const beside = row?.data.files.map(({ path }) => path).filter((path) => path !== skillFile) ?? []
  const listed = read.path === skillFile && beside.length > 0 ? `\n\nFiles of this skill: ${beside.join(', ')}` : ''
  const isCut = read.content.length > maxLoaded
  return {
    ok: true,
    output: `${read.content.slice(0, maxLoaded)}${isCut ? '\n[The file was truncated.]' : ''}${listed}`,
  }
}

const pairOf = (value: Json | undefined): readonly (string | undefined)[] =>
  Array.isArray(value) ? value.map((each) => (typeof each === 'string' ? each : undefined)) : []

const failed = (code: string, message: string): ToolOutcome => ({ ok: false, code, message })

/** Parses `skl_…`, `skl_…@1.2.0`, or `{skill_id, version?}`; null for anything else. */
const referenceOf = (declared: Json): SkillReference | null => {
  if (typeof declared === 'string') {
    const [skillId = '', version = null] = declared.split('@', 2)
    return skillId === '' ? null : { skillId, version }
  }
  if (!isObject(declared) || typeof declared.skill_id !== 'string') return null
  return { skillId: declared.skill_id, version: typeof declared.version === 'string' ? declared.version : null }
}
