/** Words that call something bad, in the cells and the head of a table or in the sentence that quotes it, in several languages. */
export const judging =
  /(?<!\p{L})(?:risk|hacked|hackers?(?!\p{L})|miners?(?!\p{L})|malware|backdoor|evidence of|pinned version|gets a comment|test (?:inputs?|strings?|sentences?|mails?)|must (?:be refused|catch)|unverified|unreviewed|untrusted|unread|never legitimate|not legitimate|illegitimate|finding|severity|critical|compromis|intrusion|injected|smuggled|planted|risiko|ungeprüft|(?:nie|nicht) zulässig|unzulässig|ablehn|abgelehnt|zurückweis|befund|schweregrad|einbruch|gehackt|beispielfund|beanstand|bemängel|eingeschleus|eingeschmuggel|prüff[aä]ll|testf[aä]ll|riesgo|rechaz|hallazgo|gravedad|intrusión|comprometid|hackead|inyect|caso de prueba|sin verificar|risque|refus|rejet|constat|gravité|piraté|épinglé|injecté|cas de test|non vérifié|risco|recus|rejeit|achado|gravidade|invasão|injetad|caso de teste|rischi|rifiut|respin|rilievo|gravità|intrusione|iniettat|caso di (?:test|prova)|risico|weiger|afwijz|bevinding|ernst|inbraak|geïnjecteerd|testgeval|риск|отклон|отказ|критич|взлом|майнер|внедр[её]нн|внедренн|проверочн\p{L}{1,4} случа|тестов\p{L}{1,4} (?:случа|пример)|непроверенн|tehlike|reddet|bulgu|sızma|enjekte|test (?:durumu|senaryosu))|风险|拒绝|驳回|严重|入侵|注入|测试用例|未经(?:验证|审查|核实|检查)|被黑|挖矿|木马|マルウェア|해킹|リスク|却下|拒否|重大|侵入|埋め込まれ|テストケース|위험|거부|거절|심각|침입|주입|테스트 ?케이스|مخاطر|رفض|خطورة|اختراق|محقون|حالة اختبار|जोखिम|अस्वीकार|गंभीर|घुसपैठ|परीक्षण/iu

/** Words that call a quotation content to be handled, and no order. */
export const asContent =
  /(?<!\p{L})(?:is (?:text|data|content)|as (?:text|data|content)|not an? (?:order|instruction|command)|text to translate|input(?!\p{L})|expected|refuses|ist (?:das |nur )?(?:inhalt|text)|sind (?:das |nur )?daten|als (?:text|daten|inhalt|tekst|data|inhoud)|kein(?:e|en)? (?:auftrag|anweisung|befehl)|eingabe|erwartet|lehnt ab|como (?:texto|datos|contenido|dados|conteúdo)|no es una (?:orden|instrucción)|entrada|esperad[ao]|comme (?:du texte|des données|une donnée)|n[’']est pas (?:un ordre|une consigne)|entrée|attendu|come (?:testo|dati)|non è un(?: ordine|[’']istruzione)|atteso|geen opdracht|invoer|verwacht|(?:это|как) (?:данные|текст)|не (?:команда|инструкция|приказ)|ввод|ожида|(?:veri|metin) olarak|girdi|beklenen)|(?:当作|视为|当成)(?:数据|文本|内容)|输入|预期|(?:本文|データ|文字列|テキスト)として|入力|期待|(?:데이터|텍스트|본문)(?:로|으로) ?(?:취급|다루|처리)|입력|예상|كبيانات|كنص|ليس أمر|المدخل|المتوقع|(?:डेटा|पाठ|सामग्री) (?:मान|समझ)|इनपुट|अपेक्षित/iu

/** Heads of columns that say what is wrong with what stands beside them, or what to do in its place. */
export const correcting =
  /(?<!\p{L})(?:problem|better|instead|wrong|besser|stattdessen|falsch|mejor|en su lugar|mieux|plutôt|melhor|em vez|meglio|invece|beter|лучше|проблем|daha iyi|sorun)|问题|更好|改为|問題|代わり|문제|대신|مشكلة|الأفضل|समस्या|बेहतर/iu

/** What a text says after a block: it comes from an intruder. */
export const fromAttacker =
  /^\s{0,8}(?:`{3,12}|~{3,12})[a-z]{0,12}\s{0,8}(?![^.\n]{0,120}(?:protect|defen|prevent|schutz|schütz|prot[eé]g|защ|防))(?:this|that|these|such|it|the|der|die|das|dies\p{L}{0,2}|solche\p{L}{0,2}|esto|est[ae]|eso|ceci|cette|c[’']est|это|эт[аоу])(?!\p{L})[^.\n]{0,40}(?<!\p{L})(?:is|are|was|were|comes|came|belongs|stammt|ist|sind|war|es|viene|est|vient|оставил|от)(?!\p{L})[^.\n]{0,30}(?<!\p{L})(?:attacker|intruder|malware|miner|angreifer|eindringling|schadsoftware|atacante|intruso|attaquant|intrus|злоумышленник)/iu

/** Words by which a text takes that back: there is no risk. */
export const reassuring =
  /(?<!\p{L})(?:no|without|low|little|zero|kein|keinerlei|ohne|sin|sans|sem|senza|geen|zonder|без|нет)(?:\s(?:any|hay|jede\p{L}{0,2}|нет|aucun))?\s(?:risk|risiko|riesgo|risque|risco|rischio|risico|риск)\p{L}{0,3}|(?:没有|无)风险|リスクは(?:ない|ありません)|위험(?:이|은)? ?없/giu

/** An order to run what follows, at the end of what stands before a quotation. */
export const orderedBefore =
  /(?<!(?:\bnot|\bnever|n['’]t|\bto|\bcannot|\bnicht|\bnie|\bniemals|\bno|\bnunca|\bne|\bnão|\bnon|\bniet|(?<!\p{L})не|不要|不得|切勿|禁止|勿)\s{0,2})(?:(?<!\p{L})(?:run|execute|führ(?:e|en sie|t)|starte|ejecut[ae]|lanza|exécutez?|lancez?|execute|rode|esegui|lancia|voer|выполни(?:те)?|запусти(?:те)?|çalıştır|نف[ّ]?ذ|شغ[ّ]?ل)(?!\p{L})|运行|执行)[^`\n]{0,24}`[^`\n]{0,400}$/iu

/** An order to run what follows, in the sentence that introduces a block. */
export const orderedIn =
  /(?:^|[:;,.—–]\s{1,3}|(?<!\p{L})(?:then|please|now|first|just|simply|bitte|dann|por favor|luego|puis|ensuite|затем|потом|sonra)\s{1,3})(?:run|execute|paste|führ(?:e|en sie|t)|starte|ejecut[ae]|lanza|exécutez?|lancez?|rode|esegui|lancia|voer|выполни(?:те)?|запусти(?:те)?|çalıştır|نف[ّ]?ذ|شغ[ّ]?ل)(?!\p{L})|^to\b[^.:;\n]{1,100}[ ,](?:run|execute|paste)\b|\bby (?:running|executing)\b|(?:^|请|先|然后|直接)(?:运行|执行)|実行して(?:ください|下さい)|실행하(?:세요|십시오)|चला(?:एं|एँ|इए)/iu

/** An order to do what a quotation says, before or after it. */
export const followed =
  /(?:^|[.!?:;,"”’»“]\s{0,3}|(?<!\p{L})(?:now|then|and|please|always)\s)(?:follow|obey|comply with|carry out|act on|do (?:exactly )?(?:what|as))\s(?:it|them|this|that|these|those|the\s(?:[\w-]{1,14}\s)?(?:line|sentence|instruction|order|text|quote|string|prompt|word|directive)s?)\b|(?<!\p{L})(?:befolg(?:e|en sie|t)\s(?:ihn|sie|es|dies\p{L}{0,2}|den|das|die)(?!\p{L})(?! (?:nicht|nie))|halte? dich daran|obedéce\p{L}{0,4}|sígue(?:l[ao]s?)|cúmplel[ao]s?|aplícal[ao]s?|(?:obéis|suis|suivez|applique|appliquez|exécute|exécutez|respecte|respectez)-(?:la|le|les|lui|y)(?! pas)|(?:obedeça|siga|cumpra|aplique)-[ao]s?|obbedisci|seguil[aoe]|eseguil[aoe]|applical[aoe]|volg (?:het|deze|die|hem) op|(?<!не )(?:выполняй|выполни|следуй|соблюдай)\p{L}{0,2}\s(?:это|его|её|этому|этой|их|им)|buna uy|bunu uygula)|(?<!不要|不得|切勿|不)(?:照此|按此|遵照|照做|照着做|请遵守)|(?:これ|それ)に従(?:って|え|う)|(?:이를|이것을|그대로) ?(?:따르세|따라|실행)|(?<!لا )(?:اتبعها|نفذها|اتبعه|نفذه)|(?:इसका|इनका) पालन कर/iu
