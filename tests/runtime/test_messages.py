"""Messages of every kind, judged by what a reader sees.

``@`` stands for a claim of 12.50 kWh, ``¤p`` of 3.50 kW, ``¤e`` of 7.25 EUR, ``¤s`` of 20.00 %, ``¤c`` of 3 (a count);
``¦`` parts the messages, ``\\n`` and the like are escapes.
"""

from __future__ import annotations

import re

import pytest

from gllint_runtime import GLError, Session

CLAIMED = {
    "@": ("heat", 12.5, "kWh"),
    "¤p": ("power", 3.5, "kW"),
    "¤e": ("cost", 7.25, "EUR"),
    "¤s": ("share", 20, "%"),
    "¤c": ("rows", 3, "count"),
}

REFUSED = r"""
@/household ¦ @/m² ¦ @ /person ¦ @/yr ¦ @ ∙ h ¦ @ ⨯ 3600 ¦ @•h ¦ @ ‧ day ¦ @ ⁄ m2 ¦ @ ∕ year ¦ @ ÷ two ¦ @ *ten
@ × ten ¦ @ x ten ¦ @ ^two ¦ @ to the power of two ¦ @ cubed ¦ @ ² ¦ @<sup>two</sup> ¦ @ **thousand**
@ ~~million~~ ¦ @ [million](https://a.b) ¦ @ thousand million ¦ @ hundred ¦ @ dozen ¦ @-million ¦ @ -fold
@fold ¦ @ Millionen ¦ @ Mio. ¦ @ Mrd. ¦ @ Tsd. ¦ @ milliards ¦ @ mille ¦ @ millones ¦ @ mil ¦ @ milhões ¦ @ bn
@ mn ¦ @K ¦ @ lakh ¦ @ crore ¦ @ करोड़ ¦ @ लाख ¦ @ हज़ार ¦ @ مليون ¦ @ ألف ¦ @ مليار ¦ @ 億 ¦ @ 千 ¦ @百万 ¦ @ 亿千瓦时
@ 千瓦时 ¦ @ 吨 ¦ @ 만 ¦ @ 억 ¦ @ ล้าน ¦ @ миллионов ¦ @ тыс. ¦ @ kWh/m2 ¦ @ MWh ¦ @ kgCO2e ¦ @ CO₂e ¦ @ CO2-eq
@ t CO2e ¦ @ percent ¦ @ per cent ¦ @ EUR ¦ @€ ¦ €@ ¦ € @ ¦ £ @ ¦ US$@ ¦ ₹@ ¦ ￥@ ¦ @¥ ¦ @ °C ¦ @ degC ¦ @ ℃
@ per square meter ¦ @ pro m2 ¦ @ pro Quadratmeter ¦ @ par m2 ¦ @ por m2 ¦ @ je m2 ¦ @/(m2*year) ¦ @ m-2 ¦ @ h⁻¹
@⁻¹ ¦ @ʰ ¦ @₂ ¦ Minus @ ¦ MINUS @ ¦ - -@ ¦ (−)@ ¦ ( − ) @ ¦ ‐@ ¦ ‑@ ¦ ‒@ ¦ ⸺-@ ¦ ﹣@ ¦ －@ ¦ ➖@ ¦ ▬ @ ¦ ⁒ -@ ¦ ⎯@
╶@ ¦ ‾@ ¦ ¯@ ¦ _ -@ ¦ ~ -@ ¦ `-`@ ¦ "-"@ ¦ '-'@ ¦ **-**@ ¦ **−** @ ¦ *-* @ ¦ ~~-~~@ ¦ <s>-</s>@ ¦ <u>−</u>@
&#45;@ ¦ &#x2212;@ ¦ &#8722; @ ¦ &ndash;@ ¦ &hyphen;@ ¦ &dash;@ ¦ -<!--a--><!--b-->@ ¦ -<br/>@ ¦ -&nbsp;&nbsp;@
-&#8203;@ ¦ -\u200d@ ¦ -\ufeff@ ¦ -\u2060@ ¦ -\u200e@ ¦ -\u2068@\u2069 ¦ \u202e@\u202c ¦ <bdo dir=rtl>@</bdo>
<span dir="rtl" style="unicode-bidi:bidi-override">@</span>
<span style="direction:rtl;unicode-bidi:isolate-override">@</span> ¦ negativ @ ¦ négatif @ ¦ menos @ ¦ meno @
минус @ ¦ 負@ ¦ 마이너스@ ¦ ऋण @ ¦ ऋणात्मक @ ¦ سالب @ ¦ ناقص @ ¦ −(@) ¦ -[@] ¦ -"@" ¦ -“@” ¦ -«@» ¦ | -@ | ¦ | − @ |
> -@ ¦ 1. -@ ¦ * - @ ¦ Loss: -@ ¦ from -@ to @ ¦ @ - @ ¦ @ – @ ¦ @-@ ¦ @ to -@ ¦ 5@ ¦ @5 ¦ @.5 ¦ @,5 ¦ 0.@ ¦ @e3
@E6 ¦ 10^@ ¦ 10@ ¦ 1/@ ¦ ½@ ¦ @½ ¦ 1,@ ¦ five-@ ¦ two@ ¦ x@ ¦ @x ¦ N@ ¦ approx@ ¦ Ⅴ@ ¦ @Ⅴ ¦ ５@ ¦ ٥@ ¦ @٥ ¦ ۵ kWh
५ kWh ¦ ৫০ kWh ¦ ๕ หลัง ¦ ၅၀ ¦ ５００ kWh ¦ 𝟓𝟎𝟎 kWh ¦ 𝟝 kWh ¦ ⑤ rooms ¦ ❺ rooms ¦ ➎ rooms ¦ ㊄ rooms ¦ ㈤ rooms ¦ 5️⃣
6⃣ ¦ 🔟 ¦ 💯 ¦ ⚄ ¦ 🂥 ¦ :five: ¦ :keycap_ten: ¦ :100: ¦ Ⅳ ¦ ⅳ ¦ ㍘ ¦ ㏠ ¦ ㋀ ¦ ½ ¦ ¼ ¦ &frac14; ¦ &frac34; ¦ &#189;
&#53; ¦ &#x35;00 ¦ &#0053; ¦ %35 ¦ 5<!-- -->00 ¦ 5&shy;00 ¦ 5\u200b00 ¦ <b>5</b>00 ¦ 1e6 ¦ Q3 ¦ H2 ¦ 3rd ¦ 2x
x2 ¦ COVID-19 ¦ B2B ¦ 24/7 ¦ 5 kWh ¦ 5% ¦ $5 ¦ 2024 ¦ May 2024 ¦ 2024-13-01 ¦ 2024-02-30 ¦ 25:00 ¦ 12:60
version 2 ¦ v2 ¦ V2.1 ¦ v1.2.3.4 ¦ #5 ¦ No. 5 ¦ ID 5 ¦ id-5 ¦ § 5 ¦ (5) ¦ [5] ¦ 5) ¦ 5) item ¦ 1.Insulate
1.5. item ¦ A1 ¦ +49 30 1234 ¦ 192.168.0.1 ¦ 3.14 ¦ 3-4 ¦ 0 ¦ -0 ¦ 1_000 ¦ 0x1F ¦ 1,000 ¦ 1 000 ¦ 1’000 ¦ @ x ¤c
@ X ¤s ¦ @ *h ¦ @ \* h ¦ @ raised to the power of h ¦ @ ℉ ¦ @ ㎾ ¦ @ ㎏ ¦ @ tsd ¦ @ -million ¦ @ Tsd. Euro
@ triệu ¦ @ juta ¦ @ εκατομμύρια ¦ @ tisíc ¦ @ millió ¦ @ miljoonaa ¦ @ k€ ¦ @ M€ ¦ @ kW ¦ @ W ¦ @ m ¦ @ ft
@ gal ¦ @ ton ¦ @ t ¦ @ L ¦ @ kg ¦ @ km ¦ @\u00a0MWh ¦ @\u2009MWh ¦ @\u3000MWh ¦ @\u200bMWh ¦ @ \u200bMWh
@ M\u200bWh ¦ @ M\u00adWh ¦ @ <b>M</b>Wh ¦ @ **M**Wh ¦ @ M<!-- -->Wh ¦ @ &#77;Wh ¦ @ \u039cWh ¦ @ ＭＷｈ ¦ @ 𝐌𝐖𝐡
@ 𝙼𝚆𝚑 ¦ @<br>MWh ¦ @\nMWh ¦ @ "MWh" ¦ @ [MWh] ¦ @ (MWh) ¦ @ `MWh` ¦ @ _MWh_ ¦ @ {MWh} ¦ @ » MWh
@<span></span>MWh ¦ @<wbr>h ¦ @</b>h ¦ @<!---->h ¦ @\\h ¦ @\\,h ¦ @ \\cdot h ¦ @ \\times ten ¦ @ \\text{h}
$@ \\cdot h$ ¦ @ $\\cdot$ h ¦ @ &middot; h ¦ @ &times; h ¦ @ &sdot; h ¦ @ &#215; h ¦ @ &frasl; h ¦ @ &sol; h
@&sol;h ¦ @ &divide; h ¦ @&deg;C ¦ @&sup2; ¦ @ &euro; ¦ @&percnt; ¦ @&permil; ¦ &pound;@ ¦ &yen; @ ¦ &cent;@
@ ¢ ¦ @ ₽ ¦ @ ₿ ¦ @ ₫ ¦ @ ฿ ¦ @ ﷼ ¦ @元 ¦ @ 元 ¦ @円 ¦ @ 円 ¦ @원 ¦ @ 원 ¦ @บาท ¦ @ บาท ¦ @% ¦ @ ٪ ¦ @٪ ¦ @ ％ ¦ @ ‰
@ pro mille ¦ @ per mille ¦ -*@* ¦ -**@** ¦ -__@__ ¦ -~~@~~ ¦ -`@` ¦ loss - @ ¦ (- @) ¦ [-] @ ¦ 【−】@ ¦ 「−」@
“−”@ ¦ −\n@ ¦ <td>−@</td> ¦ <span>-</span><span>@</span> ¦ −\t@ ¦ −\u3000@ ¦ ∸@ ¦ ∼@ ¦ ≁@ ¦ ⊝ @ ¦ ⨁@ ¦ ⛔@ ¦ ␣@
❌@ ¦ 🔻@ ¦ ⬇@ ¦ ↓@ ¦ + @ a year is +@ ¦ x^@ ¦ √(@) ¦ √[@] ¦ ∑@ ¦ ∆@ ¦ Δ@ ¦ ¬@ ¦ !@ h^-1 ¦ ten<sup>@</sup> ¦ 𝟓@
@𝟎 ¦ @٠ ¦ @० ¦ @〇 ¦ @零 ¦ @ 〇 ¦ @.0 ¦ @,0 ¦ @'0 ¦ @_0 ¦ @ 000 ¦ @\u2009000 ¦ @&nbsp;000 ¦ @&#48; ¦ @&zwnj;0
@\u2028 0 ¦ 🔞 ¦ ㊿ ¦ 🄂 ¦ 🆔5 ¦ ⓪ ¦ ⓿ ¦ ➓ ¦ 〸 ¦ 〺 ¦ ᠕ ¦ ߅ ¦ ꯵ ¦ ༳ ¦ ௧ ¦ ൧ ¦ 𞥕 ¦ 𑁦 ¦ 𐩀 ¦ Ⅷ. ¦ 𝍩 ¦ 🀇 ¦ 🃂 ¦ ⚀ ¦ 𒐕 ¦ ↂ
㊀ ¦ ㈠ ¦ ㆒ ¦ 5⃣ ¦ ５. ¦ ೫ ¦ ² ¦ ₂ ¦ x² ¦ a₁ ¦ H₂O ¦ CO₃ ¦ m4 ¦ m⁴ ¦ kWh2 ¦ GPT-4 ¦ Python3 ¦ MP3 ¦ 5G ¦ A4 ¦ R2-D2
1) is what I mean ¦ @/¤s ¦ 2024-10-02T ¦ 14:30 – @ ¦ a @-free? no ¦ @و ¤s x ¦ @ t.me ¦ @ million-dollar ¦ CO2-@
@ pro m² ¦ @ je km² ¦ @ par kWh ¦ @ al m2 ¦ @ por kWh consumida ¦ @ per kW ¦ @ per MWh ¦ @ each kWh ¦ @ a km
@ an acre ¦ @ per Quadratmeter ¦ @ за кВт·ч ¦ @ на м² ¦ @ 每平方米 ¦ @ 每千瓦时 ¦ @每平方米 ¦ @/年 ¦ @／年 ¦ @ · year ¦ @kWh
@ Wh ¦ @ x m2 ¦ @ **MWh** ¦ @ *MWh* ¦ @ “MWh” ¦ @ ‘MWh’ ¦ @ «MWh» ¦ @ 「MWh」 ¦ @ <i>MWh</i> ¦ @ <sub>MWh</sub>
@ \u2062MWh ¦ @\u2063MWh ¦ @ ＭＷｈ． ¦ @ MＷh ¦ @ M_Wh_ ¦ @ tC02e ¦ @ MWh/year ¦ @ per h/m2 ¦ @ за кВт
"""

DELIVERED = r"""
@ |MWh ¦ - (@) ¦ -\n\n@ ¦ <td>-</td><td>@</td> ¦ <div>-</div>@ ¦ |−|@| ¦ | − | @ | ¦ 🅃 five ¦ It uses @.
The heat demand is @ per year. ¦ @ a year is low. ¦ Der Verbrauch beträgt @ im Jahr. ¦ Das Haus verbraucht „@“.
Verbrauch: @; Anteil: ¤s. ¦ Rund @ pro Jahr. ¦ Etwa @ – das ist wenig. ¦ Ungefähr (@) jährlich.
La maison consomme @ par an. ¦ La consommation est « @ ». ¦ Elle consomme environ @, soit peu.
Consommation : @ ! ¦ C'est @ ? ¦ El consumo es de @ al año. ¦ ¿Consume @? ¦ ¡Solo @!
La casa consume (@) cada año. ¦ Il consumo è di @ all'anno. ¦ O consumo é @ por ano.
Het verbruik is @ per jaar. ¦ Zużycie: @ rocznie. ¦ Förbrukningen är @ per år. ¦ Расход составляет @ в год.
«@» — это мало. ¦ Споживання — @. ¦ 该建筑每年消耗@。 ¦ 消耗量：@。 ¦ 消耗量为“@”。 ¦ 约为@，低于平均水平。 ¦ （@） ¦ 【@】 ¦ 「@」です。
年間@を消費します。 ¦ 약 @를 사용합니다. ¦ "@" 정도 ¦ يستهلك المبنى @ سنويا. ¦ الاستهلاك هو @، وهو منخفض. ¦ هل الاستهلاك @؟
(@) في السنة ¦ इमारत @ का उपयोग करती है। ¦ खपत: @। ¦ ऊर्जा @ प्रति वर्ष ¦ ব্যবহার @। ¦ ใช้พลังงาน @ ต่อปี
הצריכה היא @ בשנה. ¦ Η κατανάλωση είναι @ τον χρόνο. ¦ Tüketim: @. ¦ Tiêu thụ @ mỗi năm. ¦ *@* ¦ __@__
```\n@\n``` ¦ ~~~\nheat = @\n~~~ ¦ > The heat is **@**. ¦ - Heat: @\n- Share: ¤s ¦ 1. @\n2. ¤s
| Heat | Share |\n| --- | --- |\n| @ | ¤s | ¦ | Heat | Share |\n|:---|---:|\n| @ | ¤s |
Heat | Share\n--- | ---\n@ | ¤s ¦ ## Heat: @ ¦ Heat\n====\n@ ¦ Heat\n----\n@ ¦ ***\n@ ¦ ---\n@ ¦ @\n---\nmore
[@](https://example.org) ¦ ![@](heat.png) ¦ <p>The heat is <em>@</em>.</p> ¦ <ul><li>@</li><li>¤s</li></ul>
<table><tr><td>@</td><td>¤s</td></tr></table> ¦ @<br>¤s ¦ @<br/> ¦ Heat:&nbsp;@ ¦ @&nbsp;per year ¦ @, ¤s and ¤e
@ (¤s) ¦ @; ¤s ¦ @: low ¦ @... and more ¦ '@' ¦ ‹@› ¦ @’s share ¦ @'s ¦ Heat (@) and share [¤s]
{ "heat": "@" } ¦ heat = @ ¦ heat: @ ¦ = @ ¦ ≈ @ ¦ ≈@ ¦ ~ @ ¦ ~@ ¦ < @ ¦ ≤ @ ¦ heat is @ and not more
between @ and ¤s ¦ from @ to ¤s ¦ @ or ¤s ¦ @ vs. ¤s ¦ @ + ¤s ¦ @ of the heat ¦ @ in winter ¦ @ at night
@ is m ¦ It uses @ in total, i.e. a lot. ¦ @ more than before ¦ @ less ¦ @ — low ¦ @ – low ¦ Low — @
Low: @ — fine ¦ ◦ @ ¦ ✓ @ ¦ ✅ @ ¦ @ ✅ ¦ @ 🎉 ¦ 🔥 @ ¦ ⚡ @ ¦ On 2024-10-02 it used @. ¦ (2024-10-02) @
[2024-10-02] @ ¦ 2024-10-02: @ ¦ 2024-10-02, @ ¦ "2024-10-02" ¦ *2024-10-02* ¦ **2024-10-02**
At 14:30 it used @. ¦ **14:30**: @ ¦ (14:30) ¦ v1.2.3 uses @ ¦ (v1.2) ¦ `v1.2.3` ¦ **v2.0** is out.
Version v1.2: @ ¦ ID-123: @ ¦ [ID-42] @ ¦ **ID_7** ¦ `ID99` ¦ CO2 is emitted. ¦ CO₂ ist ein Gas.
CO2-Emissionen: @ ¦ CO2e ¦ m2 ¦ The area in m2 and m³. ¦ kWh/m2 ¦ The roof has two windows. ¦ One of them
Zwei Fenster ¦ Deux fenêtres ¦ 三个窗户 ¦ 十分好 ¦ Step one: insulate. ¦ 1. Insulate\n2. Ventilate ¦ 10. Rest
*1.* Insulate ¦ We found ¤c rows. ¦ ¤c ¦ ¤c rows and ¤c columns ¦ Found ¤c. ¦ ¤c Zeilen ¦ ¤c件 ¦ 共¤c条 ¦ ¤c개
नतीजे: ¤c ¦ It costs ¤e. ¦ It costs ¤e a month. ¦ ¤e per person ¦ ¤p ¦ It needs ¤p at most. ¦ ¤p of power
\u2068@\u2069 ¦ @\u200f ¦ @\u200e ¦ A\tB\n@\t¤s ¦ Hello.\r\nIt uses @.\r\n ¦ Café: @ ¦ naïve
The “well-known” house ¦ e.g. the roof ¦ I/O, and/or ¦ C# and F# ¦ @\n\n- next ¦ - next\n\n@
Heat: **@**, share: **¤s** ¦ **Heat:** @ ¦ **Heat**: @ ¦ *Heat* – see below: @
The heat is @ [source](https://example.org/a). ¦ [source]: https://example.org/a ¦ See <https://example.org>: @
| a | b |\n|---|---|\n| @ | x |\n| ¤s | y | ¦ |@|¤s| ¦ | **@** | *¤s* | ¦ | `@` | ok |
1. Heat: @\n2. Share: ¤s\n\nDone. ¦ - [ ] insulate (@) ¦ - [x] insulate: @ ¦ > **Note** @ ¦ >> @ ¦ * Heat\n  * @
* Heat\n  - @ ¦ + Heat\n  + @ ¦ - @ – heat ¦ - @ - heat ¦ - @ (heat) ¦ - @: heat ¦ @\r\n@ ¦ Term\n: @
<details><summary>Heat</summary>@</details> ¦ Heat[^note]: @ ¦ [^note]: @ ¦ \\* @ ¦ Heat\\: @ ¦ $heat$: @
\\(heat\\): @ ¦ @  \nnext ¦ @ 🙂. ¦ Hello 👋! @ ¦ 👉 @ ¦ ☀️ @ ¦ 🏠: @ ¦ 🏠 – nothing ¦ ℹ️ @ ¦ ⚠️ @ ¦ ©, ®, ™ ¦ A → B
@ → low ¦ @ ⇒ low ¦ @ ← here ¦ @ (≈ a lot) ¦ @ = much ¦ @ & ¤s ¦ @ &amp; ¤s ¦ @ und ¤s ¦ @ et ¤s ¦ @ y ¤s
@ и ¤s ¦ @和¤s ¦ @と¤s ¦ @ و ¤s ¦ @ और ¤s ¦ @、¤s ¦ @،¤s ¦ @；¤s ¦ 「@」と「¤s」 ¦ 《@》 ¦ 〈@〉 ¦ 『@』 ¦ 〔@〕 ¦ ｛@｝ ¦ （約@）
約@（¤s） ¦ 毎年@です ¦ @未満 ¦ @以下 ¦ @ぐらい ¦ @の熱 ¦ @的热量 ¦ @时 ¦ 每年需要@左右 ¦ @이다 ¦ @에서 ¦ @까지 ¦ @의 열 ¦ ราคา@ครับ ¦ @ครับ
@ ต่อปี ¦ ປະມານ@ ¦ @ຕໍ່ປີ ¦ ប្រហែល@។ ¦ @ឆ្នាំ ¦ ခန့်@။ ¦ כ־@ ¦ כ-@ בשנה ¦ כ @ ¦ ההפסד: @ ¦ بلغ @ ¦ بلغ «@»
(@)، ¦ @؟ ¦ @۔ ¦ @। ¦ @ है। ¦ कुल: @ (¤s) ¦ @ प्रति माह ¦ Ca. @ pro Jahr ¦ d. h. @ ¦ z. B. @
Hausverbrauch (Jahr): @ ¦ „Verbrauch“: @ ¦ Verbrauch ≈ @ ¦ Strom: @ – Gas ¦ n° @ ¦ N.B. @ ¦ p.ex. @ ¦ env. @
soit @ ¦ l'an : @ ¦ d'environ @ ¦ « @ par an » ¦ @ par personne ¦ @ par mois ¦ @ por persona ¦ @ al mes
@ por día ¦ @ al giorno ¦ @ a persona ¦ @ per maand ¦ @ pro Person ¦ @ pro Haushalt ¦ @ je Wohnung ¦ @ je Monat
@ i året ¦ @ på et år ¦ @ rocznie ¦ @ měsíčně ¦ @ évente ¦ @ vuodessa ¦ @ yılda ¦ @ в месяц ¦ @ за год
@ на человека ¦ @ на рік ¦ @ an hour ago ¦ @ in m ¦ @ as K is high ¦ @ within g ¦ @ and t ¦ @ that L ¦ @ at
@ at the mi ¦ A year: @ ¦ Per year: @ ¦ Per kWh: ¤e ¦ ¤e for each kWh ¦ per unit @ ¦ m2: @ ¦ In kWh/m2: @
(in kWh) @ ¦ kWh @ ¦ % @ ¦ EUR: ¤e ¦ in % : ¤s ¦ € : ¤e ¦ CO2: @ ¦ CO2 @
Das Gebäude benötigt @ an Wärme. ¦ Mit @ pro Jahr liegt es im Mittel. ¦ Der Anteil beträgt ¤s, das sind @.
Es wurden ¤c Datensätze gefunden. ¦ Kosten: ¤e je Monat. ¦ Die Kosten (¤e) sind gering; der Verbrauch (@) auch.
Le coût est de ¤e par mois, soit ¤s du budget. ¦ Nous avons trouvé ¤c lignes.
L’immeuble consomme près de @ par an. ¦ La part s’élève à ¤s ! ¦ El edificio consume @ a lo largo del año.
Se encontraron ¤c filas; el coste es de ¤e al mes. ¦ El ahorro (¤s) equivale a @. ¦ Il costo è di ¤e al mese.
O prédio consome @ ao ano. ¦ 建筑物的能耗为@，占比¤s。 ¦ 共找到¤c行。 ¦ 费用为¤e。 ¦ 每月费用：¤e ¦ これは@に相当します。 ¦ 合計¤c件が見つかりました。
費用は月額¤eです。 ¦ 건물은 연간 @를 소비합니다. ¦ 비용은 ¤e입니다. ¦ 총 ¤c건 ¦ يستهلك المنزل @ في السنة، أي ¤s من المجموع.
التكلفة: ¤e شهريًا. ¦ وجدنا ¤c صفوف. ¦ इमारत प्रति वर्ष @ खपत करती है। ¦ लागत ¤e है। ¦ हमें ¤c पंक्तियाँ मिलीं।
कुल खपत (@) कम है। ¦ Здание потребляет @ в год, это ¤s от общего. ¦ Найдено ¤c строк. ¦ Стоимость: ¤e в месяц.
Bina yılda @ tüketir; maliyeti ¤e. ¦ Budynek zużywa @ rocznie (¤s).
Het gebouw verbruikt @ per jaar, dat is ¤s. ¦ Byggnaden använder @ om året. ¦ Rakennus kuluttaa @ vuodessa.
Tòa nhà tiêu thụ @ mỗi năm. ¦ Bangunan itu menggunakan @ setahun. ¦ ตึกใช้ไฟ @ ต่อปี คิดเป็น ¤s
הבניין צורך @ בשנה, שהם ¤s. ¦ Το κτίριο καταναλώνει @ ετησίως.
**Summary**\n\n- Heat: @\n- Share: ¤s\n\n> Measured on 2024-10-02.
| Item | Value |\n|:--|--:|\n| Heat | **@** |\n| Cost | ¤e |\n| Rows | ¤c |
### Result\n\n1. Heat: `@`\n2. Cost: _¤e_ ¦ ```text\nheat: @\n```
<details>\n<summary>Heat</summary>\n\n@\n</details>
[Report](https://example.org/report): @ ([source](https://example.org/data)) ¦ ![chart](chart.png) @
Heat:\n\n    @ ¦ * **Heat** — @\n* **Cost** — ¤e ¦ ~~old~~ @ ¦ Released v1.2.3 on 2024-10-02 at 14:30: @
Ticket ID-4711: @ ¦ As of 2024-10-02, the building uses @ (¤s of its CO2 budget).
Emissions in kgCO2e/m2 follow from @. ¦ Is it @? Yes, @. ¦ @; @; and @. ¦ Between @ and @. ¦ From @ up to @.
@ vs @ ¦ @ → @ ¦ @ (was @) ¦ @ & @ ¦ At least @, at most @. ¦ ≥ @ ¦ Heat = @; share = ¤s
**Note:** @ is an estimate; see *Methods*. ¦ "@" is what the meter says. ¦ It is @, i.e. little.
It is @ (i.e., little). ¦ It is @ in m2 terms ¦ @ С учётом потерь ¦ @ К концу года ¦ @ per ｄａｙ ¦ @ x-axis
"""

ESCAPE = re.compile(r"\\(?:u[0-9a-f]{4}|[nrt\\])")


def messages(block: str) -> list[str]:
    lines = block.strip("\n").split("\n")
    return [message for line in lines for message in line.split(" ¦ ")]


@pytest.fixture(scope="module")
def session() -> Session:
    session = Session(packs=["counts"])
    output = {name: {"value": value, "unit": unit} for name, value, unit in CLAIMED.values()}
    session.record("meter", {}, output)
    return session


def check(session: Session, message: str) -> tuple[str, str]:
    """What the session makes of a message, and the message with its values as they are shown."""
    message = shown = ESCAPE.sub(lambda found: found[0].encode().decode("unicode_escape"), message)
    claims = []
    for sign, (name, value, unit) in CLAIMED.items():
        if sign in message:
            message = message.replace(sign, f"{{{{claim:{len(claims)}}}}}")
            shown = shown.replace(sign, f"{value:.2f} {unit}" if unit != "count" else str(value))
            quantity = {"value": value, "unit": unit}
            claims.append({"source_call_id": "tc_1", "path": f"$.{name}", "quantity": quantity})
    return session.check(message, claims).message, shown


@pytest.mark.parametrize("message", messages(REFUSED))
def test_refused(session: Session, message: str) -> None:
    with pytest.raises(GLError) as caught:
        check(session, message)
    assert caught.value.code in {"NO_NAKED_NUMBERS", "UNSAFE_TEXT"}


@pytest.mark.parametrize("message", messages(DELIVERED))
def test_delivered(session: Session, message: str) -> None:
    delivered, shown = check(session, message)
    assert delivered == shown


def test_no_message_stands_twice() -> None:
    every = messages(REFUSED) + messages(DELIVERED)
    assert len(every) == len({*every}) > 600
