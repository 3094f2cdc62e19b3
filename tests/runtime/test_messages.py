"""Messages of every kind, judged by what a reader sees.

``@`` stands for a claim of 12.50 kWh, ``¤p`` of 3.50 kW, ``¤e`` of 7.25 EUR, ``¤s`` of 20.00 %, ``¤c`` of 3 (a count);
``¦`` parts the messages, ``\\n`` and the like are escapes.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from gllint_runtime import GLError, Session, scan_naked_numbers

CLAIMED = {
    "@": ("heat", 12.5, "kWh"),
    "¤p": ("power", 3.5, "kW"),
    "¤e": ("cost", 7.25, "EUR"),
    "¤s": ("share", 20, "%"),
    "¤c": ("rows", 3, "count"),
}

REFUSED = r"""
@/m² ¦ @ ∙ h ¦ @ ⨯ 3600 ¦ @•h ¦ @ ‧ day ¦ @ ⁄ m2 ¦ @ ∕ year ¦ @ ÷ two ¦ @ *ten
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
> -@ ¦ 1. -@ ¦ * - @ ¦ Loss: -@ ¦ from -@ to @ ¦ @ to -@ ¦ 5@ ¦ @5 ¦ @.5 ¦ @,5 ¦ 0.@ ¦ @e3
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
⁃@ ¦ ᠆@ ¦ ᐀@ ¦ ⹀ @ ¦ ⸚@ ¦ 𐺭@ ¦ ➖️ @ ¦ -&ensp;@ ¦ −&thinsp;@ ¦ -&#8239;@ ¦ -&emsp;@ ¦ (minus) @
[negative] @ ¦ minus&nbsp;@ ¦ minus\n@ ¦ m<b>inus</b> @ ¦ mi\u00adnus @ ¦ min<!-- x -->us @ ¦ ｍｉｎｕｓ @
𝐦𝐢𝐧𝐮𝐬 @ ¦ ⓜⓘⓝⓤⓢ @ ¦ mínusz @ ¦ miinus @ ¦ μείον @ ¦ negatif @ ¦ মাইনাস @ ¦ "minus" @ ¦ *minus* @ ¦ `minus` @
**negative** @ ¦ minus "@" ¦ minus (@) ¦ <i>minus</i> <b>@</b> ¦ minus [@](https://a.b) ¦ -[@](https://a.b)
−![@](a.png) ¦ ![-](minus.png)@ ¦ ![-](minus.png) @ ¦ &num;@ ¦ &dollar;@ ¦ &boxh;@ ¦ &macr;@ ¦ &mnplus;@
&pm; @ ¦ &ominus;@ ¦ &minusb; @ ¦ &radic;@ ¦ &oline;@ ¦ &#x2D;@ ¦ &#x2d; @ ¦ &#45 @ ¦ \\pm @ ¦ \\mp @
$\\pm$ @ ¦ \\textminus @ ¦ $-@$ ¦ $- @$ ¦ \\(-@\\) ¦ \\[ - @ \\] ¦ @ \\div h
@^{n} ¦ @ \\mathrm{MWh} ¦ @ \\text{MWh} ¦ @~MWh ¦ @\\;MWh ¦ @\\ MWh ¦ @ quadrillion ¦ @ trillions
@ Hunderttausend ¦ @ hundert ¦ @ centaines ¦ @ docenas ¦ @ decenas ¦ @ dizaines ¦ @ centinaia ¦ @ duizenden
@ honderd ¦ @ tysiące ¦ @ хиляди ¦ @ мільйонів ¦ @ мільярдів ¦ @ сотен ¦ @ мільйон ¦ @ सौ ¦ @ हजार ¦ @ करोड
@ मिलियन ¦ @ ஆயிரம் ¦ @ లక్షల ¦ @ కోట్లు ¦ @ صد ¦ @ مئة ¦ @ מאות ¦ @ ratus ¦ @ milyon ¦ @ milhares
@ ｍｉｌｌｉｏｎ ¦ @ 𝐦𝐢𝐥𝐥𝐢𝐨𝐧 ¦ @ mil\u00adlion ¦ @ mil<b>lion</b> ¦ @ MILLION ¦ @ “million” ¦ @ (million)
@ [million] ¦ @\nmillion ¦ @ million. ¦ @ million-fold ¦ @ times ten ¦ @ times a thousand
@ multiplied by two ¦ @ divided by two ¦ @ tenfold ¦ @ hundredfold ¦ @ to the third power
@ raised to the power of n ¦ @ per "m2" ¦ @ per (m2) ¦ @ per `m2` ¦ @ per **m2** ¦ @ per [m2](https://a.b)
@ per\u00a0m2 ¦ @ per\nm2 ¦ @ per sqm ¦ @ per sq. m ¦ @ per sq ft ¦ @ per sqft ¦ @ per cm ¦ @ per ha
@ per MJ ¦ @ p<b>er</b> m2 ¦ @ PER m2 ¦ @ per each m2 ¦ @ per m² ¦ @ per ㎡ ¦ @ per cubic meter ¦ @ per kilo
@ per litre ¦ @ per °C ¦ @ per degree ¦ @ per vierkante meter ¦ @ per kvadratmeter ¦ @ na metr kwadratowy
@ за квадратный метр ¦ @ на квадратный метр ¦ @ на м2 ¦ @ لكل متر مربع ¦ @ प्रति वर्ग मीटर
@ par mètre carré ¦ @ por metro cuadrado ¦ @ al metro quadro ¦ @ por metro quadrado ¦ @ je Quadratmeter
@ pro Kubikmeter ¦ @ ανά τετραγωνικό μέτρο ¦ @ metrekare başına ¦ @ CO2-Äq. ¦ @ CO2-Äquivalente
@ CO₂-Äquivalent ¦ @ CO2 eq. ¦ @ éq. CO2 ¦ @ eq. CO2 ¦ @ équivalent CO2 ¦ @ CO2 equivalente ¦ @ (CO2e)
@ **CO2e** ¦ @ CO<sub>2</sub>e ¦ @ CO2equivalent ¦ @二氧化碳当量 ¦ @ 二氧化碳当量 ¦ ¤p h ¦ ¤p hr ¦ ¤p hours ¦ ¤p·h
¤p h/year ¦ ¤p per hour ¦ ¤p an hour ¦ ¤p pro Stunde ¦ ¤p par heure ¦ ¤p por hora ¦ ¤p all'ora ¦ ¤p 每小时
¤p每小时 ¦ ¤p 毎時 ¦ ¤p в час ¦ ¤p за час ¦ ¤p/h ¦ ¤p p.a. ¦ ¤p hourly ¦ ¤p per second ¦ ¤p per **day** ¦ ¤c %
¤c percent ¦ ¤c degrees ¦ ¤c kilograms ¦ ¤c Euro ¦ ¤c million rows ¦ ¤c thousand ¦ ¤c kWh
¤c kilowatt-hours ¦ ¤c Tonnen ¦ ¤c km ¦ ¤c k ¦ ¤c/m2 ¦ ¤c dozen ¦ ¤c кВт ¦ ¤c倍 ¦ ¤c万 ¦ ¤c千瓦时 ¦ ¤e/kWh
¤e per kWh ¦ ¤e je kWh ¦ ¤e m ¦ ¤e bn ¦ ¤e USD ¦ $¤e ¦ €¤e ¦ ¤s‰ ¦ ¤s ‰ ¦ ¤s per mille ¦ -¤s ¦ - heat: -¤s
@小时 ¦ @ 小时 ¦ @多万 ¦ @余万 ¦ @ダース ¦ @ボルト ¦ @ヘクタール ¦ @フィート ¦ @갤런 ¦ @칼로리 ¦ @ตร.ม. ¦ @กก. ¦ @公顷 ¦ @百分点 ¦ @成千上万
@<sup>n</sup> ¦ @ <sup>n</sup> ¦ @ <sup>-n</sup> ¦ @ ⁿ ¦ @ ᵐ ¦ @ ⁻ⁿ ¦ @ ⁄ h ¦ @ ⧸ h ¦ @ ÷ h
<span style="color:transparent">-</span>@ ¦ <span style="scale:-1">@</span> ¦ <span style="zoom:0">x</span>@
<span style="text-indent:-9em">@</span> ¦ <b STYLE='translate: x'>@</b>
<span style="max-height:0;overflow:hidden">x</span>@ ¦ <p hidden>x</p>@ ¦ <ruby>@<rt>MWh</rt></ruby>
-<img src="a.png">@ ¦ -<input>@ ¦ <li>-@</li> ¦ <td>- @</td> ¦ <q>-</q>@ ¦ | heat | −@ | ¦ ```\n-@\n```
```\nheat: -@\n``` ¦ > heat: - @ ¦ * -@ ¦ 1. - heat -@ ¦ ~~-~~ @ ¦ heat: -\n@ ¦ **-** **@** ¦ __−__@
heat − **@** ¦ (−) "@" ¦ \u200f-@ ¦ -\u200f@ ¦ \u061c−@ ¦ @-\u200f ¦ \u2067-@\u2069 ¦ -\u2067@\u2069
\u2068-\u2069@ ¦ @\u2069 ¦ بـ@ ¦ @ريال ¦ −٢ @ ¦ <span dir=rtl>-@</span> ¦ <bdo>@</bdo> ¦ ⅐ ¦ ↉ ¦ ⅒ ¦ 1⁄2
¾-inch pipe ¦ three ¾ ¦ &frac58; ¦ &half; ¦ &#8531; ¦ Ⅻ rooms ¦ Chapter ⅷ ¦ ↀ ¦ ⓵ ¦ ⓾ ¦ 🄋 ¦ 🄌 ¦ ㉈ ¦ 🈩 ¦ 🈪
㆓ ¦ 🎲⚂ ¦ 🁣 ¦ 🀟 ¦ :six: ¦ :SEVEN: ¦ :one::zero: ¦ :1234: ¦ :hundred_points: ¦ 𐒥 ¦ 𑄾 ¦ 𖩥 ¦ 𞅅 ¦ ꘥ ¦ ᧕ ¦ ᮵ ¦ ᱅
🯱🯰 ¦ 𝟙 ¦ 𝟨 ¦ 𐌢 ¦ 𒐏 ¦ 𐅀 ¦ ² kWh ¦ kWh² ¦ m⁵ ¦ 5️ ¦ 5\ufe0f\u20e3 ¦ 4\u20e3 ¦ ༫ ¦ ৷ ৴ ¦ ௰ ¦ ൰ ¦ ፲ ¦ 1st ¦ 2nd
３rd ¦ 4ème ¦ 1er ¦ 1º ¦ 2ª ¦ 第1 ¦ 第３ ¦ №5 ¦ § 12 ¦ 14h30 ¦ 2:30 pm ¦ 14:30h ¦ 24:00 ¦ 23:59:60 ¦ 12:30:00.5
24-10-02 ¦ 2024-10 ¦ 2024–10–02 ¦ 2024-W40 ¦ 2024-10-02Z ¦ 10/02/2024 ¦ Oct 2 ¦ 2024-00-10 ¦ 2024-04-31
1900-02-29 ¦ 0000-10-10 ¦ the '90s ¦ v1.2.3-rc1 ¦ ver1.2 ¦ v 1.2 ¦ v1,2 ¦ v1. ¦ /v2/ ¦ Python 3.11 ¦ HTTP/2
ID-123-4 ¦ CID-12 ¦ ID–123 ¦ IDs-1 ¦ ID-12a ¦ ID-١٢ ¦ ID:5 ¦ > 1. item ¦ - 1. item ¦ 1.item ¦ 1) item
(1) item ¦ ١. بند ¦ 1. 2. x ¦ x 1. y ¦ CO2eq ¦ NCO2 ¦ m^2 ¦ m 2 ¦ cm2 ¦ m22 ¦ CO22 ¦ m2_1 ¦ H₂ ¦ N2O ¦ co2
M2 ¦ kWh3 ¦ CO2-5 ¦ 5CO2 ¦ 3m2 ¦ {{claim:0}}\u200d0 x ¦ &amp;#53; ¦ %30 ¦ \\u0033 ¦ a[5] ¦ [^1]
[1]: https://a.b ¦ <h2>x</h2> ¦ https://a.b/5 ¦ a5@b.c
@ต่อตารางเมตร ¦ @ ต่อตารางเมตร ¦ @ trên mét vuông ¦ @ mỗi mét vuông ¦ @ mỗi tấn ¦ @ négyzetméterenként
@ למטר רבוע ¦ @ לכל מטר רבוע ¦ @ למ"ר ¦ @ للمتر المربع ¦ @ لكل طن ¦ @ للطن ¦ @ per meter persegi
@ tiap meter persegi ¦ @ pr. kvadratmeter ¦ @ pr m2 ¦ @ pr. kubikkmeter ¦ @ na metr čtvereční ¦ @ pe metru pătrat
@ per neliömetri ¦ @ neliömetriltä ¦ @ na kvadratni meter ¦ @ ruutmeetri kohta ¦ @ už kvadratinį metrą
@ uz kvadrātmetru ¦ @ kwa mita ya mraba ¦ @ প্রতি বর্গমিটার ¦ @ ஒரு சதுர மீட்டருக்கு ¦ @ ต่อตัน ¦ @ต่อกิโลกรัม
@ per square foot ¦ @ / person-m2 ¦ @ per kg ¦ @ a kg ¦ @ a kilo ¦ @ je Kilogramm ¦ @ je kg ¦ @ je Tonne
@ le mètre carré ¦ @ au mètre carré ¦ @ du mètre carré ¦ @ la tonne ¦ @ à la tonne ¦ @ el metro cuadrado
@ cada metro cuadrado ¦ @ al metro quadrato ¦ @ a metro quadrato ¦ @ il metro quadro ¦ @ o metro quadrado
@ cada m2 ¦ @ a cada m2 ¦ @ на кв. м ¦ @ с квадратного метра ¦ @ за тонну ¦ @ за м2 ¦ @ κάθε τετραγωνικό
@ ανά τόνο ¦ @ ton başına ¦ @ kilogram başına ¦ @平米あたり ¦ @あたり平方メートル ¦ @/平方米 ¦ @ 매 제곱미터 ¦ @ per kilowatt
@ per kilowatt-hour ¦ @ each kilowatt ¦ @ per degree day ¦ @ tisuću ¦ @ tūkstančių ¦ @ tūkstoši ¦ @ tuhat ¦ @ ezer
@ mii ¦ @ хиљада ¦ @ ათასი ¦ @ հազար ¦ @ אלף ¦ @ آلاف ¦ @ هزار ¦ @ ہزار ¦ @ হাজার ¦ @ వేల ¦ @ ಸಾವಿರ ¦ @ ആയിരം
@พัน ¦ @ พัน ¦ @ ພັນ ¦ @ ពាន់ ¦ @ ထောင် ¦ @ nghìn ¦ @ ngàn ¦ @ ribu ¦ @ libo ¦ @ elfu ¦ @千 ¦ @천 ¦ @ 천 ¦ @十万 ¦ @百
@ cento ¦ @ centos ¦ @ cientos ¦ @ Dutzend ¦ @ Billiarde ¦ @ Trilliarden ¦ @ trillion ¦ @ K ¦ @ mm ¦ @ MM ¦ @ bln
@ mil. ¦ @ mld ¦ @ mld. ¦ @ tys. ¦ @ tis. ¦ @ тис. ¦ @ трлн ¦ ¤p per year ¦ ¤p a day ¦ ¤p yearly ¦ ¤p pro Jahr
¤p im Jahr ¦ ¤p jährlich ¦ ¤p par an ¦ ¤p l'an ¦ ¤p annuels ¦ ¤p al año ¦ ¤p por año ¦ ¤p anuales ¦ ¤p all'anno
¤p l'anno ¦ ¤p annui ¦ ¤p por ano ¦ ¤p ao ano ¦ ¤p per jaar ¦ ¤p jaarlijks ¦ ¤p rocznie ¦ ¤p na rok ¦ ¤p ročně
¤p per år ¦ ¤p om året ¦ ¤p årligen ¦ ¤p vuodessa ¦ ¤p évente ¦ ¤p yılda ¦ ¤p pe an ¦ ¤p anual ¦ ¤p ετησίως
¤p τον χρόνο ¦ ¤p в год ¦ ¤p ежегодно ¦ ¤p на рік ¦ ¤p щороку ¦ ¤p בשנה ¦ ¤p לשנה ¦ ¤p سنويا ¦ ¤p في السنة
¤p در سال ¦ ¤p सालाना ¦ ¤p प्रति वर्ष ¦ ¤p每年 ¦ ¤p年間 ¦ ¤p 매년 ¦ ¤pต่อปี ¦ ¤p mỗi năm ¦ ¤p per tahun ¦ ¤p kwa mwaka
@ tonnes ¦ @ tonnes of CO2 ¦ ¤e k ¦ ¤e M ¦ ¤e B ¦ ¤e T ¦ ¤e G ¦ ¤c B ¦ ¤c G ¦ ¤c T ¦ @ — million ¦ @ – million
Total: -\\ @ ¦ @ per year and m2 ¦ @ dollars ¦ ¤e dollars ¦ ¤e k per site ¦ ¤c кВтч ¦ ¤c руб. ¦ ¤c т ¦ @ кWh
@ per year per m2 ¦ @ a year per m2 ¦ @ per person per m2 ¦ @ per person and m2 ¦ @ per day and per kg
@ per year per square metre ¦ @ each year per m2 ¦ @ per (heated) m2 ¦ @ per gross m2 ¦ @ per built-up m2
@ per usable square meter ¦ @ for each m2 ¦ @ for every m2 ¦ @ for every square metre ¦ @ in each m2 ¦ @\nM
¤e\nB of it ¦ ¤e k in total ¦ ¤e k of it ¦ ¤e k, all told ¦ (¤e k) ¦ **¤e** k ¦ ¤e **k** ¦ ¤e **M**
¤e <b>M</b> ¦ ¤e&nbsp;M ¦ ¤e 𝐌 ¦ ¤e Ｍ ¦ ¤e Md ¦ ¤e Mia ¦ ¤e tril ¦ ¤e mill. ¦ ¤e bill. ¦ ¤e B. ¦ ¤e (B)
¤e B in sales ¦ ¤e M in sales ¦ ¤e T in debt ¦ ¤e G worth ¦ ¤c B rows ¦ @ — millions! ¦ @ — kWh ¦ @ – MWh.
@ — **million** ¦ @ ― thousand ¦ @ --- million ¦ @ -- million ¦ @ kilograms
@ square metres ¦ @ degrees ¦ @ degrees Celsius ¦ @ **tonnes** ¦ @ metric tonnes
@ short tons ¦ @ barrels ¦ @ gallons ¦ @ Tonnen ¦ ¤e Dollar ¦ ¤e Rupien ¦ @ toneladas ¦ ¤e dólares
¤e dollari ¦ @ litros ¦ @ кг ¦ @ т ¦ @ тонн ¦ @ кВтч ¦ @ кВт·ч ¦ ¤e руб. ¦ ¤e рублей ¦ ¤e долларов ¦ ¤e евро
@ 🔥 million ¦ @ pro Jahr und m2 ¦ @ pro Jahr und Quadratmeter ¦ @ par an et par m2
@ par an et par mètre carré ¦ @ por año y m2 ¦ @ por año y metro cuadrado ¦ @ all'anno per m2
@ al mese per m2 ¦ @ per jaar per m2 ¦ @ per år och m2 ¦ @ rocznie na m2 ¦ @ annually per m2
@ yearly per square metre ¦ @ daily per kg ¦ @ of heat per m2 ¦ @ of heat per square metre ¦ @ heat per m2
@ used per m2 ¦ @ each per m2 ¦ @ ⚡ MWh ¦ @ ⚡MWh ¦ @ – m2! ¦ @ – thousands ¦ @ – USD ¦ ¤e - million
¤e - thousand. ¦ ¤e—million ¦ @—kWh ¦ ¤e (M) ¦ ¤e [k] ¦ ¤s M ¦ @ k ¦ @ pounds ¦ @ lbs ¦ @ feet ¦ @ inches
@ meters ¦ @ watts ¦ @ watt-hours ¦ @ kilojoules ¦ @ liters of oil ¦ @ acres ¦ @ cubic metres ¦ @ cubic feet
@ sq ft ¦ @ sqft ¦ @ sq. m ¦ ¤e yen ¦ ¤e rupees ¦ ¤e yuan ¦ @ volts ¦ @ hertz ¦ @ cm ¦ @ ha ¦ @ oz
@ metric tons ¦ @ long tons ¦ @ metric tonnes of CO2 ¦ @ metros cuadrados ¦ @ mètres carrés ¦ @ Quadratmeter
@ Kilowattstunden ¦ @ tonnes équivalent CO2 ¦ @ kilogrammes ¦ @ chilogrammi ¦ @ kilogramos ¦ @ quilogramas
@ litri ¦ @ metri quadrati ¦ @ tonnellate ¦ @ kilos ¦ @ kilogramů ¦ @ kilogramów ¦ @ килограммов ¦ @ литров
@ метров ¦ @ квадратных метров ¦ @ градусов ¦ @ гривень ¦ ¤e гривен ¦ ¤e złotych ¦ ¤e korun ¦ ¤e kronor
¤e forint ¦ ¤e lira ¦ ¤e pesos ¦ ¤e reais ¦ ¤e francs ¦ ¤e Franken ¦ ¤e Pfund ¦ ¤e libras ¦ ¤e sterling
¤e pounds sterling ¦ ¤e bucks ¦ ¤e ευρώ ¦ ¤e δολάρια ¦ ¤e يورو ¦ ¤e دولار ¦ ¤e دولارات ¦ ¤e ريال ¦ ¤e درهم
¤e شيكل ¦ ¤e שקל ¦ ¤e ש"ח ¦ ¤e דולר ¦ ¤e यूरो ¦ ¤e रुपये ¦ ¤e रुपए ¦ ¤e डॉलर ¦ ¤e টাকা ¦ ¤e ரூபாய் ¦ ¤e đồng
¤e đô la ¦ ¤e rupiah ¦ ¤e ringgit ¦ ¤e baht ¦ @ كيلوغرام ¦ @ كيلوواط ¦ @ طن ¦ @ أمتار ¦ @ درجة ¦ @ درجة مئوية
@ Grad ¦ @ grados ¦ @ degrés ¦ @ gradi ¦ @ graus ¦ @ graden ¦ @ grader ¦ @ stopni ¦ @ องศา ¦ @ độ ¦ @ derajat
@ derece ¦ ¤s por ciento ¦ ¤s por cento ¦ ¤s per cento ¦ ¤s procent ¦ ¤s prosent
¤s prosenttia ¦ ¤s процентов ¦ ¤s процента ¦ ¤s відсотків ¦ ¤s százalék ¦ ¤s persen ¦ ¤s phần trăm ¦ ¤s بالمئة
¤s في المئة ¦ ¤s אחוז ¦ ¤s אחוזים ¦ ¤s प्रतिशत
¤e zł ¦ @ per mi ¦ ¤e Mia. Euro ¦ @ for each kg ¦ ¤c tons of steel ¦ ¤c kilometres away ¦ ¤c € off
¤c percent off ¦ ¤c % off
¤e ⓜⓘⓛⓛⓘⓞⓝ ¦ ¤e 🄼🄸🄻🄻🄸🄾🄽 ¦ @ Ⓜ ¦ ¤e 🄱 ¦ > @\n> million ¦ > Heat -\n> @ ¦ > Heat −\n> > @
a >@ -> x 5 ¦ @ of heat/m2 ¦ @ heat / m2 ¦ @ of CO2e per kWh ¦ @ used each m2 ¦ @ — per m2 ¦ @ - per m2
¤e kUSD ¦ ¤e MEUR
@ ᐧ h ¦ @・h ¦ @ ・ h ¦ ⁒ @ ¦ ｰ @ ¦ ⠤ @ ¦ ⨫ @ ¦ ⦵ @ ¦ ┈ @ ¦ ╼ @ ¦ ﹎ @ ¦ ➗ @ ¦ -<!-->@ ¦ -<!--->@ ¦ −<!-- a --!>@ ¦ mіnus @
¤e mіllion ¦ ¤e ᴍillion ¦ @ ᴋWh ¦ @ per passenger-km ¦ @ per passenger-kilometre ¦ @ per € ¦ @ per % ¦ @ ⊙ ten
@ ⋆ ten ¦ @ ⋇ ten ¦ @ ➗ two ¦ @ ∘ f ¦ @ — M. ¦ ¤p — per year.
<span/style="direction:rtl">@</span> ¦ <span title=">" style="direction:rtl">@</span> ¦ <a href="x"hidden>@</a>
@ต่อm2 ¦ @每kWh ¦ @ 每m² ¦ @あたりkg ¦ @ ต่อ kWh ¦ @毎m3 ¦ @ 매 kWh ¦ @ 🅼illion ¦ ¤e za litr ¦ ¤e אלפי ¦ ¤s per mil ¦ ¤s permille ¦ ¤p jede Stunde ¦ ¤p chaque jour ¦ ¤p ogni mese ¦ ¤p elke dag
¤p varje månad ¦ ¤p каждый месяц ¦ @ chaque m2 ¦ @ ogni tonnellata
<a = style="direction:rtl">@</a> ¦ <p\nhidden\n>-</p>@ ¦ <p style="color:red;direction:rtl">@</p>
Die Rechnung lautet EUR ¤c ¦ CHF ¤c ¦ It costs Rs. ¤c ¦ :heavy_minus_sign: @ ¦ :minus:@ ¦ Lỗ âm @ ¦ ÂM @ ¦ मायनस @
<img src="a.png" alt="−">@ ¦ <img alt='minus'> @ ¦ <IMG src=a alt="&minus;">@ ¦ mınus @ ¦ ¤e mıllıon ¦ ¤c.¤c ¦ ¤c,¤c ¦ ¤c’¤c
**¤c**.**¤c** ¦ ¤c\u00a0¤c ¦ ¤e per million ¦ ¤e a thousand ¦ ¤e per dozen eggs ¦ ¤e pro Tausend ¦ ¤e por millón ¦ ¤e k EUR ¦ ¤e TEUR
¤e на тысячу жителей ¦ ¤c and a half ¦ ¤c y media ¦ ¤c et demi ¦ ¤c und ein halbes ¦ ¤c e mezzo ¦ ¤c buçuk ¦ ¤c rưỡi
¤c с половиной ¦ @ below zero ¦ @ unter Null ¦ @ sous zéro ¦ @ bajo cero ¦ @ ниже нуля ¦ ¤e milions ¦ ¤e millóns
¤e milljónir ¦ ¤e hiljada ¦ ¤e miliónov ¦ ¤e tūkst. ¦ ¤e milj. ¦ ¤e trillones ¦ ¤e billones ¦ ¤e триллионов ¦ ¤e trilyon
¤e trăm ¦ ¤e δισ. ¦ ¤e মিলিয়ন ¦ ¤e මිලියන ¦ ¤c kr ¦ ¤c грн ¦ ¤c تومان ¦ ¤c روپے ¦ ¤c lei. ¦ ¤c shilingi ¦ ¤c euroa
¤c Rubel ¦ ¤c yenes ¦ ¤c원입니다 ¦ ¤c원을 썼다 ¦ ¤c엔 ¦ ¤c เยน ¦ ¤c 塊 ¦ ¤c塊錢 ¦ ¤c bin TL ¦ ¤c hectáreas ¦ ¤c Zentimeter
¤c chilometri ¦ ¤c Megawattstunden ¦ ¤c мегаватт ¦ ¤c κιλοβατώρες ¦ ¤c קילוואט ¦ ¤c ק"מ ¦ ¤c basis points
¤s percentage points ¦ ¤c Prozentpunkte ¦ ¤c ppm ¦ @ CO2-ekvivalenter ¦ @ CO2当量为 ¦ @ экв. CO2 ¦ @ mi ¦ @ mi in total
¤c mi de largo ¦ ¤c mi? ¦ ¤c m.p.h. ¦ ¤c k.p.h. ¦ ¤c t.o.e. in all
Ⲻ @ ¦ ¤e mïllion ¦ ¤e thóusand ¦ @一百 ¦ @ 一。 ¦ ¤c만 원 ¦ ¤c만 명 ¦ ¤c억 달러 ¦ ¤c 원 ¦ @半。 ¦ @ cu. m ¦ @ metro cuadrado ¦ @ per metro
十一@ ¦ 四半@ ¦ @ m. ¦ @ t.x ¦ ¤c Cent ¦ ¤c centavos ¦ ¤c копеек ¦ ¤c groszy ¦ ¤c kuruş ¦ ¤c銭 ¦ ¤c гектаров ¦ ¤c هكتار ¦ ¤c knots
¤c เฮกตาร์ ¦ ¤e (in thousands) ¦ ¤e in millions ¦ \\textendash @
Per kWh: ¤e ¦ @/person/m2 ¦ @/kWh/day ¦ @ - @ ¦ It uses - @. ¦ - it is - @
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
@ at the mi ¦ A year: @ ¦ Per year: @ ¦ per unit @ ¦ m2: @ ¦ In kWh/m2: @
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
Plus ou moins @. ¦ Más o menos @. ¦ Mais ou menos @. ¦ Più o meno @. ¦ Pelo menos @. ¦ Ao menos @.
Per lo meno @. ¦ Por lo menos @. ¦ Moins de @. ¦ Menos de @. ¦ The plant feeds @ to the power grid.
@ to the power station ¦ It gave @ to the powerful. ¦ @ times the average ¦ ¤c times a year ¦ ¤c times
@ and two million reasons ¦ L’économie atteint @ ; c’est ¤s. ¦ Entre @ et @. ¦ Jusqu’à @ d’économies.
Il reste @ (env. ¤s). ¦ Environ @ par logement et par an. ¦ Coût total : ¤e TTC. ¦ @ de chaleur ¦ Soit @ !
Im Schnitt @ je Wohnung. ¦ Das sind @ weniger als zuvor. ¦ @ Wärme, ¤s Anteil. ¦ Zwischen @ und @.
Die Kosten: ¤e (netto). ¦ Rund ¤s davon. ¦ ¤c Wohnungen ¦ Über @ hinaus. ¦ CO2-Ausstoß: @ ¦ @ CO2-Einsparung
@ Mehrverbrauch ¦ No menos de @. ¦ Nada menos que @. ¦ Unos @ por vivienda. ¦ Cerca de @ al mes. ¦ Hasta @.
Circa @ all’anno. ¦ Quasi @ al mese. ¦ Até @. ¦ Ongeveer @ per woning. ¦ Ca. @ i året.
Około @ miesięcznie. ¦ 用电量为@；占¤s。 ¦ 仅@而已 ¦ 排放@二氧化碳 ¦ 减少@二氧化碳 ¦ @两者之间 ¦ 从@到@ ¦ 共计@。 ¦ ¤c个房间 ¦ ¤c栋建筑 ¦ 达@之多
@至@ ¦ 这@电 ¦ 約@の電力 ¦ @を超える ¦ @から@まで ¦ @以内 ¦ @程度 ¦ @前後 ¦ @（税込） ¦ ¤c個 ¦ ¤c台 ¦ ¤c人 ¦ ¤c回 ¦ ¤c棟の建物 ¦ @に達する ¦ @ずつ
@も ¦ @分の電気 ¦ 合わせて@ ¦ 약 @씩 ¦ @보다 적다 ¦ @ 이상 ¦ @로 줄었다 ¦ 평균 @ ¦ ¤c개의 방 ¦ ¤c명 ¦ 총비용은 ¤e이다 ¦ ประมาณ@เท่านั้น
@ต่อเดือน ¦ ¤cห้อง ¦ مقدارها @ فقط ¦ من @ إلى @ ¦ @ لكل شخص ¦ حوالي @، أي ¤s ¦ الطاقة: @
लगभग @ प्रति व्यक्ति ¦ कुल @ ऊर्जा ¦ केवल ¤c कमरे ¦ של @ ¦ מ-@ עד @ ¦ ל־@ ¦ וב-@ ¦ ה-@ הזה ¦ שב־@
Yaklaşık @'dir. ¦ @’e kadar ¦ @'lık ¦ Noin @:n verran ¦ kb. @ ¦ Ungefär @ ¦ Khoảng @ ¦ Sekitar @
Примерно @; это ¤s. ¦ Не менее @. ¦ На @ меньше. ¦ Περίπου @. ¦ Հաշվում է @։ ¦ དང་ @། ¦ ‟@” ¦ ❝@❞ ¦ ＂@＂
〝@〞 ¦ ⟨@⟩ ¦ ⟪@⟫ ¦ ``@'' ¦ ‛@’ ¦ ⌜@⌝ ¦ ❨@❩ ¦ ⁅@⁆ ¦ ＇@＇ ¦ ［@］ ¦ ＜@＞ ¦ ☞ @ ¦ ➤ @ ¦ ▸ @ ¦ ⦿ @ ¦ ➜ @ ¦ ✔️ @ ¦ ❗ @
💡 Heat: @ ¦ 🥇 @ ¦ ⭐ @ ¦ ♻️ @ ¦ @ 👍 ¦ @ ✓ ¦ @ ✗ ¦ @ ★ ¦ @* ¦ - heat: @ ¦ \t- @ ¦ > > - @ ¦ 1. - @ ¦ |-|@|
| Heat |\n|---|\n| @ | ¦ ||@|| ¦ <dl><dt>Heat</dt><dd>@</dd></dl> ¦ <abbr title="heat">@</abbr>
<b title="-">@</b> ¦ <span class="value">@</span> ¦ <span style="color:red">@</span>
<b style="font-weight: bold; color: #abc">@</b> ¦ <td align="right">@</td>
<td style="text-align:right">@</td> ¦ <small>@</small> ¦ <mark>@</mark> ¦ <del>@</del> ¦ <kbd>@</kbd>
<code>@</code> ¦ <a href="https://a.b/c-d">@</a> ¦ <!-- note --> @ ¦ @ <!-- note --> ¦ @<sup>*</sup>
@<sup>[a]</sup> ¦ @[^a] ¦ Heat[^a] is @. ¦ \\(@\\) ¦ \\[ @ \\] ¦ **Result:**\n@ ¦ _Result_: @ ¦ Result\n\n@
Result:\n\n* @\n* @ ¦ ```json\n{"heat": "@"}\n``` ¦ ```yaml\nheat: @\n``` ¦ ~~~md\n- @\n~~~ ¦ ### @ ###\n
[a]: https://a.b\n@ ¦ [Heat][a]: @ ¦ <https://a.b> @ ¦ https://a.b/c?d=e @ ¦ https://a.b/-/c @ ¦ 2024-02-29
2024-10-02. ¦ 2024-10-02/2024-10-03 ¦ 2024-10-02 14:30:59 ¦ 02:30 pm ¦ 00:00 ¦ 14:30 Uhr ¦ 14:30–15:45
(v10.20) ¦ v1.2-beta ¦ /v1.2/ ¦ ID123 ¦ (ID_123) ¦ /ID-5/ ¦ 01. Rest ¦ 1.\tRest ¦ __1.__ Rest ¦ m2's
CO2-neutral ¦ CO2. ¦ (CO2) ¦ kgCO2e/kWh ¦ m²-Preis ¦ CO2/m2 ¦ CO₂-Bilanz ¦ Phase IV ¦ Louis XIV ¦ Twenty kWh
two-thirds ¦ half of it ¦ First of all ¦ secondly ¦ tenth ¦ One-off ¦ zweitens ¦ 第一 ¦ 三分之一 ¦ :two_hearts:
:star: ¦ :first_place: ¦ :game_die: ¦ 🕐 ¦ 🥈 ¦ O ¦ l ¦ I ¦ Ω ¦ pH ¦ kWh/year ¦ a/b ¦ m/s ¦ &lt;&gt; ¦ &copy;
caf&eacute; ¦ &hellip; ¦ R&D ¦ AT&T; ok ¦ @ is what it uses, minus losses. ¦ It is negative. @ is the sum.
Minus the losses, @. ¦ @ minus losses ¦ A plus: @ ¦ It is @—not more—today. ¦ Up to @! ¦ @ (see below)
@ [see below] ¦ "Is it @?" she asked. ¦ e.g., @ ¦ i.e. @ ¦ Heat (total): @ ¦ Heat, total: @ ¦ Heat/total: @
Heat & power: @ ¦ Low-energy house: @ ¦ net-zero @ ¦ pre-war @ ¦ ¤p at night ¦ ¤p per flat ¦ ¤e per hour
¤e net ¦ ¤e (incl. VAT) ¦ ¤e p.a. ¦ ¤s p.a. ¦ ¤s of it ¦ ¤s points up ¦ ¤c hours ¦ ¤c days ¦ ¤c per day
¤c of ¤c ¦ It is @ to the north power line. ¦ @ times over ¦ The cost is ¤e a head. ¦ @ at a cost of ¤e
@ par rapport à @ ¦ @ par exemple ¦ @ por ejemplo ¦ @ por lo tanto
@ al final ¦ @ al menos ¦ @ je nach Wetter ¦ @ je nachdem ¦ @ pro Bewohner ¦ @ pro Kopf ¦ @ per capita
@ per room ¦ @ per se ¦ @ per guest ¦ @ per unit ¦ @ per tenant and year ¦ @ an einem Tag ¦ @ an der Wand
@ a piece ¦ @ a lot ¦ @ a bit more ¦ @ each ¦ @ every time ¦ @ na dom ¦ @ na osobę ¦ @ za dom ¦ @ на дом
@ по плану ¦ @ за зиму ¦ @ на человека в год ¦ @ по сравнению с @ ¦ @ لكل بيت ¦ @ لكل مستخدم ¦ @ प्रति घर
@ प्रति व्यक्ति ¦ @ ανά άτομο ¦ @ ανά κατοικία ¦ @ k tomu ¦ @ v roce ¦ @ s DPH ¦ @ i alt ¦ @ e altro
@ equals the sum ¦ @ equally split ¦ @ equivalent to one tree ¦ @ equiv. of trees ¦ @ CO2 equality
@ CO2-frei ¦ @ CO2-arm ¦ @ CO2 eingespart ¦ @ multiplied over years ¦ @ divided among them ¦ @ times as much
@ x-ray ¦ @ and a million thanks ¦ @ in a thousand homes ¦ @ of a hundred ¦ hundred @ ¦ A dozen @ heaters
@ sat ¦ @ face ¦ @ tram ¦ @ van ¦ @ am Tag ¦ I am @ ¦ @ bin ¦ @ bins ¦ @ sept
@ cent pour cent ¦ @ mega ¦ @ time ¦ @ mill ¦ @ milling ¦ @ millionaire ¦ @ tenant ¦ @ squares
@ square in shape ¦ @ hours ¦ @ hrs ¦ @ h ¦ @ p.a. ¦ @ nightly ¦ ¤e daily ¦ ¤e hourly ¦ @ hourly ¦ @ all’ora
@ в час ¦ ¤c h ¦ ¤c Tage ¦ ¤c Monate ¦ ¤c heads ¦ ¤c cats ¦ ¤c centres ¦ ¤c dollhouses ¦ ¤c halls
¤c kitchens ¦ ¤c mmm ¦ 其中@ ¦ 大约@吧 ¦ @二氧化碳排放 ¦ @来自太阳能 ¦ @用于供暖 ¦ @多 ¦ @余热 ¦ @几乎没变 ¦ @上升 ¦ @上述 ¦ @成本 ¦ @成为
@公司 ¦ @数据 ¦ @ドイツ ¦ @トルコ ¦ @グループ ¦ @ポイント ¦ @時間帯 ¦ @一部 ¦ @上昇 ¦ @成長 ¦ @数年 ¦ @원래 ¦ @조금 ¦ @천천히 ¦ @배터리 ¦ @만큼
@เมตตา ¦ **Résumé** : @ (¤s) ¦ « Chauffage » : @ ¦ A–B: @ ¦ A - B: @ ¦ Minus: @ ¦ Plus: @ ¦ + Heat: @
plus @ ¦ less @ ¦ moins cher : @ ¦ menos: @
Per Haushalt @ je Haushalt ¦ @ a person ¦ @ per household and @ per guest ¦ @ an Wärme ¦ @ each for heating
@ every night ¦ @ L-shaped house ¦ @ t-shirt drying ¦ @ and/or @ ¦ @ à Paris, @ à Lyon ¦ @ por la mañana
@ по данным счётчика ¦ @ на этаже ¦ @ na obrazovce ¦ @ half of it by night ¦ @ once more ¦ @ of CO2 ¦ @ of CO2e
@ CO2 saved ¦ **@**: yes ¦ <strong>@</strong> ¦ @[^a] is a guess. ¦ @* is estimated ¦ ‣ @ ¦ ★ @ ¦ 📈 @
= @ (rounded) ¦ @ ¦ | @ | kWh | ¦ | @ | million | ¦ ## @ {#anchor} ¦ The unit is kWh/m2/year; @ it is ¦ @ في السنة
@ در سال ¦ @ לשנה ¦ @ प्रति वर्ष ¦ @以上 ¦ @左右 ¦ @和@ ¦ @、@ ¦ 約@ ¦ 约@ ¦ 第一季度@ ¦ 二月@ ¦ 半年@ ¦ @에서 @까지 ¦ @으로 ¦ @씩
@ต่อปี ¦ @毎年 ¦ @每年 ¦ @当たり前 ¦ 每年@ ¦ 每户@ ¦ 2. two @ ¦ > @ ¦ > - @ ¦ <details><summary>More</summary>@</details>
:   @ ¦ ![alt](pic.png) @ ¦ [@][a] ¦ `@`, `@` ¦ ``@`` ¦ _heat_ @ ¦ **Heat:**@ ¦ **Heat**: **@**, *light*: *@*
- [ ] @ ¦ - [x] @ ¦ @ :sunny: ¦ @ 🙂 ¦ 🙂 @ ¦ the twenty-first of May: @ ¦ Am Einundzwanzigsten: @
le premier mai : @ ¦ el primero de mayo: @ ¦ il primo maggio: @ ¦ 第三个: @ ¦ @ seconds the motion ¦ @ m-dash
@ hour-long ¦ @, million by million ¦ @; thousands agree ¦ @. Thousands agree. ¦ @: millions! ¦ @ – fine ¦ @ — fine
@ - fine ¦ @'s share ¦ @'nin ¦ @'ye kadar ¦ @:n ¦ ¤p im Jahr davor ¦ ¤p im Jahr der Sanierung ¦ ¤p l'an dernier
¤p l’anno scorso ¦ ¤p el año pasado ¦ @ le compteur le dit ¦ @ la semana pasada ¦ @ el metrónomo ¦ @ du bâtiment
@ au total ¦ @ lo mismo ¦ @ pe scurt ¦ @ s domem ¦ @ с дома ¦ @ uz to ¦ @ trên tầng hai ¦ @ mỗi người
@ kwa nyumba ¦ @ cada casa ¦ @ לבית ¦ @ للبيت ¦ @ต่อคน ¦ @ 매우 적다
我们在2024-10-02测量了@。 ¦ 会议于14:30开始。 ¦ 版本v1.2.3已发布。 ¦ 2024-10-02に測定しました。 ¦ 会議は14:30に始まります。 ¦ 2024-10-02에 측정했습니다.
@🎉 ¦ 🔥@ ¦ $$ @ $$ ¦ ¤c K-pop songs ¦ ¤c M&A deals ¦ ¤c C++ files ¦ A: @\nB: ¤e\nC: @ ¦ USD: ¤e\nEUR: ¤e
K: @\nL: @\nM: @ ¦ kWh: @\nMWh: @ ¦ ¤c C# files ¦ ¤c F# files ¦ ⚡@ ¦ 🏠@⚡ ¦ 💡@ ¦ ¤c🐈 ¦ 🌡️@ ¦ @🌱 ¦ 工单ID-123已关闭。
14:30부터 @ ¦ วันที่2024-10-02ใช้@ ¦ v1.2.3をリリース ¦ ID-42は閉じました ¦ $$\n@\n$$ ¦ Heat 🔥@, cost 💸 ¤e ¦ @🙂. ¦ 🙂@ ¦ 👍🏽@
👨‍👩‍👧@ ¦ ❤️@ ¦ 🟢@ ¦ C = @\nF = @ ¦ C) @\nF) ¤e ¦ **USD**: ¤e\n**EUR**: ¤e ¦ **C:** @\n**F:** @
USD: ¤e  \nEUR: ¤e ¦ USD: ¤e\r\nEUR: ¤e ¦ USD — ¤e\nEUR — ¤e ¦ m2: @\nkWh/m2: @ ¦ CO2: @\nCO2e: @
从2024-10-02到2024-10-09共¤c天 ¦ 截至2024-10-02 14:30，@ ¦ 于14:30测得@。 ¦ 今日14:30に@を測定 ¦ ID_42番 ¦ 第ID-42号
El consumo de @ ha bajado este mes. ¦ La casa con @ ha ridotto i costi.
Het huis verbruikt @ met zonnepanelen. ¦ Er zijn ¤c met een fout. ¦ Son @ tan solo en invierno.
¤c złożonych wniosków ¦ ¤c złych wyników ¦ ¤c градусников ¦ It was @ grade work. ¦ ¤c grade levels
@ ahorrados por mi equipo ¦ @ por mi cuenta ¦ @ produits par L'Oréal ¦ @ par L’Oréal ¦ He owes ¤e Mia said
@ mitä tarvitaan ¦ @ ty masz ¦ @ lit par jour ¦ @ on the roof ¦ @ in summer and @ in winter ¦ @ for heating
@ on average ¦ @ on each floor ¦ @ in each flat ¦ @ for each flat ¦ @ for every tenant ¦ @ of heat per flat
@ of heat per person and day ¦ @ of savings per year ¦ @ more per year than before ¦ @ heat per heated flat
@ used by a C student ¦ @ as a T account ¦ @ was a C grade ¦ @ with a K factor ¦ @ et la maison ¦ @ la semaine
@ au gaz ¦ @ du gaz ¦ @ le matin ¦ @ el lunes ¦ @ la mañana ¦ @ lo normal ¦ @ il mese ¦ @ al piano terra
@ o mês passado ¦ @ na cozinha ¦ @ na rua ¦ @ na zimę ¦ @ za prąd ¦ @ za energii ¦ @ na dom jednorodzinny
@ je dost ¦ @ je niedrig ¦ @ je mehr, desto besser ¦ @ pe lună ¦ @ pe casă ¦ @ cu TVA ¦ @ cu totul ¦ @ bez DPH
@ i mer ¦ @ om dagen ¦ @ på ett år ¦ @ för huset ¦ @ til huset ¦ @ til oppvarming ¦ @ av huset ¦ @ talossa
@ kuukaudessa ¦ @ havonta ¦ @ a házban ¦ @ az évben ¦ @ evde ¦ @ ile ¦ @ ve ¤e ¦ @ veya ¤e ¦ @ για το σπίτι
@ τον μήνα ¦ @ для дома ¦ @ на отопление ¦ @ за месяц ¦ @ из сети ¦ @ от солнца ¦ @ и ещё @ ¦ @ т. е. немного
@ т.н. зелёной энергии ¦ @ для будинку ¦ @ на місяць ¦ @ за месец ¦ @ за кућу ¦ @ في الشهر ¦ @ من الطاقة
@ در خانه ¦ @ برای خانه ¦ @ घर के लिए ¦ @ हर महीने ¦ @ প্রতি মাসে ¦ @ வீட்டிற்கு ¦ @ ఇంటికి ¦ @ untuk rumah
@ setiap bulan ¦ @ mỗi tháng ¦ @ cho ngôi nhà ¦ @ trên mái nhà ¦ @ sa bahay ¦ @ kila mwezi ¦ @ สำหรับบ้าน
@ ต่อเดือน ¦ @สำหรับบ้าน ¦ 用了@的电 ¦ 用了@左右的电 ¦ 每月@元旦除外 ¦ @为总量 ¦ @以及¤e ¦ @ほど ¦ @、つまり ¦ @だった ¦ @가 필요합니다 ¦ @와 ¤e
@정도 ¦ ¤c명의 사용자 ¦ ¤c人の利用者 ¦ ¤c个用户 ¦ ¤c项任务 ¦ ¤c次请求 ¦ ¤c台设备 ¦ ¤c張紙 ¦ ¤c行のデータ ¦ ¤c건의 오류
¤c users, ¤c groups, ¤c roles ¦ ¤c commits ahead ¦ ¤c tests passed, ¤c failed ¦ ¤c meetings today
¤c emails unread ¦ ¤c days left ¦ ¤c hours ago ¦ ¤c weeks old ¦ ¤c stars ¦ ¤c points ¦ ¤c bytes ¦ ¤c pixels
¤c characters ¦ ¤c tokens used ¦ ¤c cats and ¤c dogs ¦ **¤c** of **¤c** tests passed ✅
✅ ¤c passed, ❌ ¤c failed, ⏭ ¤c skipped ¦ 📊 Total: ¤c ¦ 📈 ¤s growth ¦ 📉 ¤s decline ¦ ⏱ ¤c runs ¦ 🧾 ¤e ¦ ☑ ¤c
- ✅ ¤c done\n- 🔴 ¤c open
> Heat:\n> @ ¦ > @\n> so much ¦ >@ ¦ @\n> A quote ¦ @ heat/power ¦ @ input/output ¦ @ of CO2e saved
¤e ◽ ¤p ¦ @ ≠ ¤s ¦ @ ± much ¦ @ − losses ¦ │ @ │ ¦ ├ @ ¦ ⇢ @ ¦ 💨 @ ¦ … @ ¦ @・給湯@ ¦ @ day/night ¦ @ says each one
排放CO2的建筑：@ ¦ 単位はm2です ¦ CO2를 줄임 ¦ <a href="/hidden/x">@</a> ¦ <a href="x" title="the hidden house">@</a>
<https://example.org/hidden> @ ¦ <p aria-hidden="true">@</p> ¦ <p class="hidden-print">@</p> ¦ <!--> @
@每个LED灯 ¦ @毎回LEDで ¦ @ต่อ LED ¦ @ jedes Jahr ¦ @ jede Woche für Wasser ¦ @ chaque mois ¦ @ ogni mese ¦ @ elke maand ¦ @ varje månad ¦ @ każdego miesiąca
@ каждый месяц ¦ @ każdy dom ¦ @ à chaque étage ¦ @ 🇺🇸 homes
@ used each year ¦ @ — per year ¦ @ — per person, that is ¦ ¤c MUST ¦ heat > @
@〜@の間 ¦ @～@ ¦ @~@ 사이 ¦ 〜@まで ¦ ※@は概算 ¦ ★@達成 ¦ 消費電力＝@ ¦ @† is a guess ¦ @‡, @†
Bu @ mı? ¦ @ a miles de hogares ¦ @割引 ¦ ¤c割合の表 ¦ ¤cトンネル ¦ ¤cメガネ ¦ 电费削减@
¤c块面板 ¦ ¤c塊面板 ¦ @两项合计 ¦ ¤c 줄 추가 ¦ ¤c 미터기 ¦ ¤c ตาราง ¦ ¤c พันธมิตร ¦ ¤c พนักงาน ¦ ¤c เมตริก ¦ ¤c वर्ग ¦ ¤s độ ẩm
@ đồng thời giảm ¦ ¤s tỷ lệ ¦ ¤c tấn công ¦ ¤c元素 ¦ @ εκ των οποίων ¦ @ y media de @ ¦ @ and a half-full tank
@ a hundred times ¦ ¤c, ¤c ¦ ¤c. ¤c ¦ @.@ ¦ <img src="logo.png" alt="Logo">@ ¦ <img alt="">@ ¦ Âm thanh: @
Minus sign: @ ¦ ¤c lei noastre ¦ ¤c엔진 ¦ ¤c 원본 파일
@ föld ¦ @ tồn kho ¦ ¤s ngân sách ¦ ¤c cụm máy ¦ ¤c metro stations ¦ @ cum spuneam ¦ ¤c litrato ¦ @ 만들었습니다 ¦ @ 원장 님 ¦ @ 억제
周一@，周二@ ¦ 星期六@ ¦ 前半@、後半@ ¦ 負担軽減@ ¦ @一年 ¦ @半年 ¦ @十分惊人 ¦ @零售 ¦ ¤c卡车 ¦ @ t.ex. i maj ¦ @ m.m. ¦ @ t.j. málo
@ ČR ¦ @ con el consumo mío ¦ Cela ajoute @ à ton budget ¦ @ por tan solo ¤e ¦ @ in thousands of homes ¦ ¤c groß geschrieben
@/household ¦ @ /person ¦ @/yr ¦ ¤e/seat/month ¦ ¤e/night ¦ @ – @ ¦ @-@ ¦ @–@ ¦ - **Basic** – ¤e ¦ **Total** - ¤e ¦ Basic plan – ¤e
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


def code_of(session: Session, message: str) -> str:
    """The code by which a message is refused, none where it is not."""
    try:
        check(session, message)
    except GLError as error:
        return error.code
    return ""


def test_refused(session: Session) -> None:
    codes = {"NO_NAKED_NUMBERS", "QUANTITY_MISMATCH", "UNSAFE_TEXT"}
    assert [message for message in messages(REFUSED) if code_of(session, message) not in codes] == []


def test_delivered(session: Session) -> None:
    for message in messages(DELIVERED):
        delivered, shown = check(session, message)
        assert delivered == shown, message


OWN_UNIT = [
    ("@ kWh", "12.50 kWh"),
    ("@ kilowatt-hours", "12.50 kilowatt-hours"),
    ("@ kilowatt hours of heat", "12.50 kilowatt hours of heat"),
    ("@ (kWh)", "12.50 kWh (kWh)"),
    ("> @\\n> kWh", "> 12.50 kWh\n> kWh"),
    ("¤e euros", "7.25 euros"),
    ("¤e Euro", "7.25 Euro"),
    ("¤s %", "20.00 %"),
    ("¤s Prozent", "20.00 Prozent"),
    ("¤s pour cent", "20.00 pour cent"),
    ("¤s pct", "20.00 pct"),
    ("@ kWh a day", "12.50 kWh a day"),
]


@pytest.mark.parametrize(("message", "shown"), OWN_UNIT)
def test_a_unit_that_is_typed_once_more_is_shown_once(session: Session, message: str, shown: str) -> None:
    assert check(session, message)[0] == shown


@pytest.mark.parametrize("time", [" per year", "/year", " a year", " pro Jahr"])
def test_a_period_that_the_unit_has_already_is_shown_once(time: str) -> None:
    session = Session()
    session.record("meter", {}, {"heat": {"value": 12.5, "unit": "kWh/year"}})
    assert session.check(f"It is {{{{tc_1.heat}}}}{time}.").message == f"It is 12.50 kWh{time}."
    for other in (" per month", "/month"):
        assert session.verify(f"It is {{{{tc_1.heat}}}}{other}.").status == "error"


def test_what_touches_a_number_is_naked_and_what_is_read_of_it_is_a_mismatch(session: Session) -> None:
    codes = {}
    for message in ("@k", "-@", "@ MWh", "half of @", "@ doubled", "Heat (MWh): @", "@ million"):
        with pytest.raises(GLError) as caught:
            check(session, message)
        codes[message] = caught.value.code
    assert [message for message, code in codes.items() if code == "NO_NAKED_NUMBERS"] == [
        "@k",
        "-@",
        "@ million",
    ]
    assert {*codes.values()} == {"NO_NAKED_NUMBERS", "QUANTITY_MISMATCH"}


def test_no_message_stands_twice() -> None:
    every = messages(REFUSED) + messages(DELIVERED)
    assert len(every) == len({*every}) > 1200


@pytest.mark.parametrize(
    "given", [{"text": 5}, {"text": "5", "whitelist": "5"}, {"text": "5", "units": "kWp"}]
)
def test_what_is_scanned_is_text(given: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="needs a str"):
        scan_naked_numbers(**given)
