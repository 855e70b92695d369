import { readFileSync } from 'node:fs'
import { ours } from './packed.ts'

/** The blocks of code in a page, of these languages (part of a pattern). */
export const blocksOf = (page: string, languages: string): readonly string[] => {
  const block = new RegExp(`^\`\`\`(?:${languages})\\n([\\s\\S]*?)^\`\`\`$`, 'gm')
  return [...readFileSync(ours(page), 'utf8').matchAll(block)].map(([, code = '']) => code)
}

/** A block as a module of its own: before it stand declarations of the names that it uses and does not declare. */
export const withGiven = (block: string, given: Readonly<Record<string, string>>): string => {
  const isUsed = (name: string) => new RegExp(`\\b${name}\\b`).test(block)
  const isOwn = (name: string) => new RegExp(`(const|let|class|type) ${name}\\b|import [^'"]*\\b${name}\\b`).test(block)
  const lines = Object.entries(given)
    .filter(([name]) => isUsed(name) && !isOwn(name))
    .map(([, line]) => line)
  return [...lines, block, 'export {}'].join('\n')
}
