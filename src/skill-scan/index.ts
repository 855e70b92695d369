/** The security scan of skill files. Everything outside of this folder imports it here. */
export type { SkillFile, SkillFinding } from './finding.ts'
export { hiddenText } from './hidden-text.ts'
export { type Passage, skillPassages } from './passages.ts'
export { scanSkill } from './scan-skill.ts'
