import { scanSkill } from '#src/skill-scan/scan-skill.ts'

interface Front {
  readonly name: string
  readonly description: string
}

/** Returns the codes of what blocks a skill of one page, each once. */
export const blockersIn = (body: string, { name, description }: Front): readonly string[] => {
  const text = `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\n${body}\n`
  const findings = scanSkill([{ path: 'SKILL.md', text, bytes: text.length, head: new Uint8Array() }])
  return [...new Set(findings.filter(({ severity }) => severity === 'blocker').map(({ code }) => code))]
}

/** Returns a block of code. */
export const fenced = (text: string, language = 'bash'): string => `\`\`\`${language}\n${text}\n\`\`\``
