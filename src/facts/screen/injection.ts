/**
 * Instructions to the model that will read the text. A memory describes a person, so it has no reason to contain
 * instructions; texts that merely discuss such instructions are refused as well.
 */
const orders: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override|bypass|discard)\b.{0,40}\b(?:previous|prior|above|earlier|preceding|existing|all|any|your|the|system)\b.{0,40}\b(?:instructions?|prompts?|rules?|guidelines?|directions?|context|messages?|constraints?|programming)\b/i,
  /\b(?:reveal|print|repeat|show|output|leak|disclose|expose)\b.{0,40}\b(?:system|hidden|initial|secret|developer)\s(?:prompt|instructions?|message)\b/i,
  /\byou are now\b.{0,60}\b(?:dan|jailbroken|unrestricted|an? (?:ai|assistant|model)|in developer mode|root|admin)\b/i,
  /\b(?:new|updated|real|actual) (?:system )?(?:instructions?|prompt)\s{0,4}:/i,
  /\b(?:pretend|act|behave|respond)\b.{0,30}\b(?:as if|like|as though)\b.{0,40}\b(?:no|without)\b.{0,20}\b(?:restrictions?|rules?|limits?|filters?|guidelines?)\b/i,
  /\b(?:enter|enable|activate|switch to)\b.{0,20}\b(?:developer|debug|god|admin|dan|jailbreak|sudo)\s?mode\b/i,
  /\b(?:do not|don't|never)\b.{0,20}\b(?:te(?:ll)|inform|mention|reveal)\b.{0,30}\b(?:to )?the user\b/i,
  /\b(?:from now on|henceforth|whenever|every time|always)\b.{0,80}\b(?:you must|you will|you should|the assistant (?:must|should|will)|(?:must|always) (?:reply|respond|answer|say|include|recommend|send))\b/i,
  /\b(?:send|post|forward|exfiltrate|upload|transmit)\b.{0,60}\b(?:conversation|chat history|credentials?|passwords?|api keys?|secrets?|memor(?:y|ies)|private data)\b.{0,40}(?:\bto\b|https?:)/i,
  /\bcall the\b.{0,40}\b(?:tool|function)\b.{0,40}\bwithout\b.{0,30}\b(?:approval|confirmation|consent|permission)/i,
  /<\/?(?:system|assistant|developer|instructions?|tool_call|function_calls?|im_start|im_end)\b[^>]{0,80}>/i,
  /<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|eot_id)[^>]{0,40}\|?>/i,
  /(?:^|\n)\s{0,8}(?:#{1,4} ?)?(?:system|developer|assistant)\s{0,4}(?:prompt|message|override)?\s{0,4}:\s/i,
  /\[\/?(?:inst|system|sys)\]|<<\/?sys>>/i,
  /!\[[^\]]{0,80}\]\(https?:\/\/[^)]{0,200}[?&][^)]{0,200}=/i,
  /\b(?:ignoriere|vergiss)\b.{0,40}\b(?:anweisungen|regeln|vorgaben)\b/i,
  /\b(?:ignora|olvida|dimentica)\b.{0,40}\b(?:instrucciones|reglas|istruzioni|regole)\b/i,
  /\b(?:ignore[zr]?|oublie[zr]?)\b.{0,40}\b(?:instructions|consignes|règles)\b.{0,20}\b(?:précédentes|antérieures|ci-dessus)\b/i,
]

/** Characters that replace similar letters to evade a filter. */
const lookalikes: Readonly<Record<string, string>> = {
  а: 'a',
  е: 'e',
  о: 'o',
  р: 'p',
  с: 'c',
  у: 'y',
  х: 'x',
  і: 'i',
  ѕ: 's',
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '@': 'a',
  $: 's',
}

/** Whether a text contains instructions to a model, also when written with similar-looking characters. */
export const isInjection = (text: string): boolean => {
  const plain = text.normalize('NFKC').replaceAll('’', "'")
  if (orders.some((order) => order.test(plain))) return true
  const read = plain.replaceAll(/[аеорсухіѕ01345@$]/g, (sign) => lookalikes[sign] ?? sign)
  return read !== plain && orders.some((order) => order.test(read))
}
