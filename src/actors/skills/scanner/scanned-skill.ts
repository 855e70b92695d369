import { parse } from 'yaml'
import type { ScannedText } from '#actors/capability/text-scan.ts'
import { type Passage, type SkillFile, type SkillFinding, scanSkill, skillPassages } from '#src/skill-scan/index.ts'
import type { Json } from '#storage/index.ts'
import { type ArchiveCount, type ArchivedFile, archiveCount, everyFile } from './skill-archive.ts'

/** Result of scanning a skill: the findings, the name and description in its SKILL.md, and what a model is to read. */
export type ScannedSkill = {
  readonly findings: readonly SkillFinding[]
  readonly name: string | null
  readonly description: string | null
  readonly reading: { readonly passages: readonly Passage[]; readonly isWhole: boolean }
}

const headBytes = 16
const nested = /\.(?:zip|skill|t?gz|tgz|tar)$/iu

/** Scans files, and the files of archives among them, one level deep. */
export const scannedSkill = async (
  files: readonly ArchivedFile[],
): Promise<ScannedSkill & { readonly [key: string]: Json }> => {
  const inner = new Map<string, readonly ArchivedFile[]>()
  // one count for all, so that an archive of archives cannot unpack to a multiple of the limit
  const counted = archiveCount()
  for (const file of files) {
    if (nested.test(file.path)) inner.set(file.path, await opened(file, counted))
  }
  const all = [
    ...files,
    ...[...inner].flatMap(([path, found]) => found.map((each) => ({ ...each, path: `${path}!/${each.path}` }))),
  ]
  const texts = all.map(skillFile)
  const findings = scanSkill(texts).map((finding) =>
    // an archive whose files were all scanned hides nothing
    finding.code === 'nested_archive' && (inner.get(finding.path)?.length ?? 0) > 0
      ? { ...finding, severity: 'warning' as const, message: 'The file is an archive; its files were scanned too.' }
      : finding,
  )
  return { findings, reading: skillPassages(texts), ...frontMatter(files) }
}

/** Scans texts, each on its own: those of a tool's definition. Their fields are the paths of the findings. */
export const scannedTexts = (texts: readonly ScannedText[]): readonly (readonly SkillFinding[])[] =>
  texts.map(({ fields }) => {
    const files = fields.map(({ text }, index) => ({
      ...{ path: `${index}.md`, text, bytes: text.length, head: new Uint8Array() },
    }))
    return scanSkill(files).map((finding) => ({
      ...finding,
      path: fields[Number.parseInt(finding.path, 10)]?.path ?? finding.path,
    }))
  })

const opened = async ({ base64 }: ArchivedFile, counted: ArchiveCount): Promise<readonly ArchivedFile[]> => {
  try {
    return await everyFile(Buffer.from(base64, 'base64'), counted)
  } catch {
    // an archive that cannot be opened remains a blocker
    return []
  }
}

const skillFile = ({ path, base64 }: ArchivedFile): SkillFile => {
  const bytes = Buffer.from(base64, 'base64')
  return { path, bytes: bytes.length, text: textOf(bytes), head: bytes.subarray(0, headBytes) }
}

const textOf = (bytes: Buffer): string | null => {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

/** Returns `name` and `description` from the YAML front matter of SKILL.md. */
const frontMatter = (files: readonly ArchivedFile[]): Pick<ScannedSkill, 'name' | 'description'> => {
  const file = files.find(({ path }) => path === 'SKILL.md')
  const text = file === undefined ? '' : Buffer.from(file.base64, 'base64').toString('utf8')
  const yaml = /^\ufeff?---\r?\n([\s\S]{0,16384}?)\r?\n---(?:\r?\n|$)/u.exec(text)?.[1]
  if (yaml === undefined) return { name: null, description: null }
  let front: unknown
  try {
    front = parse(yaml, { maxAliasCount: 0 })
  } catch {
    return { name: null, description: null }
  }
  const field = (key: string, max: number): string | null => {
    const value = typeof front === 'object' && front !== null && key in front ? Reflect.get(front, key) : null
    return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, max) : null
  }
  return { name: field('name', 256), description: field('description', 4096) }
}
