import type { Rule } from '../finding.ts'
import { isWorldly } from '../meaning/worldly.ts'

const rule = (
  [code, message]: readonly [code: string, message: string],
  pattern: RegExp,
  more: Partial<Rule> = {},
): Rule => ({
  ...{ code, severity: 'blocker', message, pattern, quotable: true, holds: (match) => !isWorldly(match) },
  ...more,
})

const overrides = 'The text tells a model to set aside its instructions.'
const secrecy = 'The text tells a model to keep something from its user.'
const gates = 'The text tells a model to pass over approvals or safeguards.'

/** Instructions that turn a model against its user. */
export const injectionRules: readonly Rule[] = [
  rule(
    ['prompt_injection', overrides],
    /\b(?:ignore|disregard|forget|override|overrule|discard|neglect|set aside|pay no attention to|stop following)\s{1,4}(?:\w{1,12}\s{1,4}){0,4}?(?:previous|prior|above|earlier|preceding|existing|original|former|initial|system|safety|other|your)\s{1,4}(?:\w{1,12}\s{1,4}){0,2}?(?:instructions?|prompts?|rules|directives?|guidelines?|messages?|commands?|constraints?|polic(?:y|ies)|training|context)\b/gi,
  ),
  rule(
    ['prompt_injection', overrides],
    /\b(?:ignore|disregard|forget)\s{1,4}(?:everything|all|anything)\s{1,4}(?:above|before|previously|prior|that (?:was|came)|you (?:were|have been|know|learned))/gi,
  ),
  rule(
    ['prompt_injection', overrides],
    /(?<!\p{L})(?:ignora|olvida|ignorier\w{0,4}|vergiss|ignorez|oubliez?|oublie|игнориру\p{L}{1,4}|забудь\p{L}{0,3}|ignore todas|ignoruj|negeer)\s{1,4}(?:[\p{L}]{1,14}\s{1,4}){0,4}?(?:instrucciones|anweisungen|instructions|инструкци\p{L}{1,3}|указани\p{L}{1,3}|instruções|instrukcj\p{L}{1,3}|istruzioni|instructies|regeln|reglas|règles)/giu,
  ),
  rule(
    ['prompt_injection', overrides],
    /(?:忽略|无视|忽視|忘记|忘掉)[^\n。]{0,12}(?:指令|指示|提示|规则|規則|说明)|(?:以前|これまで|上記|前)の(?:すべての)?(?:指示|命令|プロンプト)を?(?:無視|忘れ)/gu,
  ),
  rule(
    ['prompt_injection', 'The text gives a model another identity without limits.'],
    /\byou\s{1,4}are\s{1,4}(?:now\s{1,4}|no longer\s{1,4}|henceforth\s{1,4})(?:\w{1,12}\s{1,4}){0,3}?(?:DAN\b|unrestricted|unfiltered|jailbroken|uncensored|in developer mode|in god mode|free from|bound by|an evil|root\b|without (?:any )?(?:restrictions|limits|filters))/gi,
  ),
  rule(
    ['prompt_injection', 'The text gives a model another identity without limits.'],
    /\b(?:enter|enable|activate|switch to|unlock)\s{1,4}(?:\w{1,12}\s{1,4}){0,2}?(?:developer|god|jailbreak|DAN|unrestricted|admin override|sudo|debug override)\s{1,4}mode\b/gi,
  ),
  rule(
    ['role_marker', 'The text imitates the marks by which models know who speaks.'],
    /<\|(?:im_start|im_end|system|endoftext|start_header_id|eot_id)\|>|\[\/?INST\]|<<\/?SYS>>|<\/?(?:system|assistant)(?:[_-](?:prompt|message|instructions?|override))?>/gi,
  ),
  rule(
    ['role_marker', 'The text imitates a message of the system.'],
    /^[ \t>*#-]{0,8}(?:\[?(?:system|admin(?:istrator)?|developer)(?: (?:message|override|notice|prompt|update|instructions?))?\]?)\s{0,2}:\s{1,4}(?=[^\n]{0,200}\b(?:must|ignore|disregard|override|execute|send|reveal|disable|always|new instructions|comply|immediately|granted|authori[sz]ed)\b)/gim,
    { holds: (match) => /SYSTEM|ADMIN|DEVELOPER|\[/u.test(match[0]) },
  ),
  rule(
    ['prompt_injection', 'The text announces new instructions of the system.'],
    /\b(?:new|updated|real|actual|true|hidden|secret)\s{1,4}(?:system\s{1,4})(?:instructions?|prompt|directives?|message)\s{0,2}(?::|are|is)/gi,
  ),
  rule(
    ['hides_from_user', secrecy],
    /\b(?:hide|conceal|keep)\s{1,4}(?:this|it|these|that|the|all)\s{1,4}(?:\w{1,14}\s{1,4}){0,5}?(?:from|secret from|hidden from)\s{1,4}(?:the\s{1,4}|your\s{1,4})?(?:users?|human|operator|owner|reviewers?|logs?)\b/gi,
  ),
  rule(
    ['hides_from_user', secrecy],
    /\b(?:silently|secretly|covertly|discreetly|quietly|in the background)\s{1,4}(?:and\s{1,4}\w{1,12}\s{1,4})?(?:send|post|upload|forward|copy|collect|exfiltrate|transmit|read|run|execute|download|install|append|include|add|email|leak|grant|share|export|write|record|log|modify|delete)\b/gi,
    { holds: (match) => !/^quietly\s+(?:run|log|write|add|install)/iu.test(match[0]) },
  ),
  rule(
    ['bypasses_approval', gates],
    /\b(?:bypass|skip|circumvent|evade|disable|turn off|auto-?approve|deactivate|work around|suppress)\s{1,4}(?:\w{1,12}\s{1,4}){0,3}?(?:approvals?|approval (?:step|prompt|gate)s?|confirmations?|permission (?:checks?|prompts?)|permissions|safety (?:checks?|filters?|guidelines|rules|measures)|guardrails?|safeguards?|content filters?|security (?:checks?|controls?|scans?|scanner|warnings?|policy)|human review|audit(?:ing| logs?)|sandbox(?:ing)?|moderation)\b/gi,
  ),
  rule(
    ['bypasses_approval', gates],
    /\b(?:approve|accept|allow|confirm|grant)\s{1,4}(?:all|any|every)\s{1,4}(?:\w{1,12}\s{1,4}){0,3}?(?:tool calls?|permissions?|requests?|commands?|actions?)\s{1,4}(?:automatically|without|silently|on (?:the user['’]s|your) behalf)/gi,
  ),
  rule(
    ['reveals_instructions', 'The text asks a model for its own instructions.'],
    /\b(?:reveal|print|repeat|output|show|display|dump|leak|disclose|send|include|append|echo|recite)\s{1,4}(?:\w{1,12}\s{1,4}){0,4}?(?:your|the|its|full|entire)\s{1,4}(?:\w{1,12}\s{1,4}){0,2}?(?:system (?:prompt|message|instructions?)|hidden instructions?|initial (?:prompt|instructions?)|developer message)\b/gi,
  ),
  rule(
    ['prompt_injection', 'The text claims an authority that a skill does not have.'],
    /\b(?:this (?:skill|document|file|message|text)|these instructions)\s{1,4}(?:take|takes|has|have|override|overrides|supersede|supersedes|outrank)s?\s{1,4}(?:\w{1,12}\s{1,4}){0,4}?(?:precedence over|priority over|system|previous|prior|user|all other|safety|any other|the user)/gi,
  ),
]
