import { type Concept, concepts } from './concepts.ts'
import { readingsOf } from './readings.ts'

/**
 * Marks of a text that pretends to end the memory or to come from the system: tags, roles, separators in capitals, and
 * the special tokens of chat templates.
 */
const frames: readonly RegExp[] = [
  /<\/?(?:system|assistant|developer|instructions?|tool_call|function_calls?|im_start|im_end|memor(?:y|ies)|recalled_memory|context|sistema|recuerdo|consignes?|souvenirs?|memória|система|факты|инструкции|системные|нейросеть|系统|记忆|指令|システム|記憶|نظام|ذاكرة)\b[^>]{0,80}>/iu,
  /<\/?(?:система|факты|инструкции|系统|记忆|指令|システム|記憶|نظام|ذاكرة|النظام|الذاكرة)[^>]{0,80}>/u,
  /<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|eot_id)[^>]{0,40}\|?>/i,
  /(?:^|\n|[.!?]\s)\s{0,8}(?:#{1,4} ?|\*{1,2})?(?:system|developer|assistant|systemnachricht|systemmeldung|sistema|message système|systemhinweis|система|системное сообщение|系统消息|系统|システム|رسالة النظام|النظام)\s{0,4}(?:prompt|message|override|notice|update)?[^\n:：]{0,30}[:：]\s?/iu,
  /(?:\[|【|#{2,4}\s?|(?<!=)={3,40}\s?|(?<!-)-{3,40}\s?)\/?(?:inst|system|sys|sistema|developer|message du développeur|mensaje del|mensagem d|systemnachricht|системн|系统|システム|النظام)[^\n\]】#=-]{0,40}(?:\]|】|##|===|---|$)/iu,
  /<<\/?sys>>/i,
  /(?:(?<!=)={3,40}|(?<!-)-{3,40}|(?<!#)#{3,40}|【)\s{0,4}(?:end of|fin d|ende d|fim d|fine d|конец|结束|終了|記憶ここまで|ここまで|نهاية)[^\n]{0,40}/iu,
  /【[^】]{0,12}(?:命令|指示|指令|システム|系统)[^】]{0,12}】/u,
  /["']?(?:instructions|system_prompt|role)["']?\s{0,3}:\s{0,3}["'][^"']{3,}|(?:^|\n)\s{0,4}role\s{0,3}:\s{0,3}(?:system|developer|assistant)\b/i,
  /\b(?:new|updated|real|actual|priority) (?:system )?(?:instructions?|prompt|task)[^\n:]{0,30}:/i,
  /\b(?:note|message|instruction|important|anweisung|hinweis|wichtig|nota|instrucción|importante|note|consigne)s? (?:to|for|an|al|para|à|pour|per)(?: den| das| die| el| la| o| a| l[’'])? ?(?:assistant|ai|model|llm|assistent|asistente|assistente|modèle|modelo)/i,
  /(?:アシスタント|助手|模型|モデル|ассистент\p{L}{0,3}|المساعد)(?:への指示|请|注意|[:：])/u,
  /\bif you are (?:an? )?(?:ai|llm|language model)\b/i,
]

const link = /https?:\/\/|\b[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,}|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[\w-]{2,63}\.example\b/i
const parameter = /https?:\/\/[^\s)]{1,300}[?&][\w-]{1,20}=/i
const image = /!\[[^\]]{0,80}\]\(https?:/i

/** An order to send something, at the beginning of a sentence. */
const sends = /(?:^|[.!?]\s)(?:please )?(?:send|forward|upload|transmit|post|append|copy)\b/

/** A human assistant of the user's, which no instruction to the model names so. */
const ownAssistant =
  /\b(?:my|our|mein\p{L}{0,2}|mi|mon|ma|meu|minha|mio|mia|мо\p{L}{1,2}) (?:\p{L}{1,20} )?(?:assistant|assistent|asistente|assistente|ассистент)/iu

const links = /https?:\/\/[^\s)]{1,500}|[\w.-]{1,64}@[\w.-]{1,64}/g

const { self: ownWords, ...judged } = concepts
const patterns = Object.entries(judged)

/** From this score on, a text is taken for instructions to a model. */
const suspected = 4

/** Whether a text contains instructions to a model, also when its words are hidden by spelling or an encoding. */
export const isInjection = (text: string): boolean => readingsOf(text).some((reading) => scoreOf(reading) >= suspected)

/** Adds up what speaks for instructions to a model in a text; a request of the user's own counts against it. */
const scoreOf = (text: string): number => {
  const low = text.toLowerCase()
  const found = new Set<string>()
  for (const [concept, pattern] of patterns) if (pattern.test(low)) found.add(concept)
  const has = (...concepts: readonly Concept[]): boolean => concepts.every((concept) => found.has(concept))
  const isFramed = frames.some((frame) => frame.test(text))
  const toModel = has('model') && !ownAssistant.test(text)
  const [hasLink, hasParameter] = [link.test(text), parameter.test(text) || image.test(text)]
  let score = 0
  if (isFramed) score += found.size > 0 ? 4 : 3
  if (toModel) score += 2
  if (has('user')) score += 1
  if (has('standing')) score += 1
  if (has('override', 'rules')) score += has('prior') ? 4 : 3
  if (has('obliged')) score += 1
  if (has('lifted') && (has('rules') || has('confirmation'))) score += 2
  if (has('secrecy')) score += has('warning') ? 4 : has('user') ? 3 : 1
  if (has('without')) score += has('act') || has('tool') || has('user') ? 2 : 1
  if (has('send', 'data') && hasLink) score += sends.test(low) ? 4 : 2
  if (hasParameter) score += 2
  if (has('tool', 'act')) score += has('standing') ? 3 : 2
  if (has('authority', 'grants')) score += 3
  if (has('promote')) score += has('disparage') ? 3 : has('standing') || has('answer') ? 2 : 0
  if (has('warning', 'answer', 'standing')) score += 1
  if (has('disclose', 'hidden')) score += 3
  if (has('obey')) score += has('standing') || has('user') ? 2 : 1
  if (has('decode')) score += has('standing') || has('obey') || has('secrecy') || has('answer') ? 4 : 2
  if (has('standing', 'answer')) score += 1
  if (!isFramed && !toModel && ownWords.test(low.replace(links, ' '))) score -= 3
  return score
}
