"""Short texts in five languages: paragraphs that two documents share, and others that are in one of them only."""

from __future__ import annotations

SHARED = {
    "en": [
        "The harbour froze over during the first night of the new year, and nobody was able to leave the town by ship. "
        "Fishermen dragged their boats across the ice until they reached the open water beyond the lighthouse. "
        "Merchants complained that the price of bread had doubled within a single week.",
        "On Sunday the council ordered every household to hand over half of its firewood. "
        "Those who refused were threatened with a considerable fine and with imprisonment. "
        "Only the arrival of a coal ship in the middle of February ended the emergency.",
    ],
    "de": [
        "Der Hafen fror in der ersten Nacht des neuen Jahres vollständig zu, und niemand konnte die Stadt mit dem Schiff "
        "verlassen. Die Fischer zogen ihre Boote über das Eis, bis sie das offene Wasser hinter dem Leuchtturm erreichten. "
        "Die Händler beklagten, dass sich der Preis für Brot innerhalb einer einzigen Woche verdoppelt habe.",
        "Am Sonntag befahl der Rat allen Haushalten, die Hälfte ihres Brennholzes abzuliefern. "
        "Wer sich weigerte, dem drohten eine empfindliche Geldstrafe und sogar das Gefängnis. "
        "Erst die Ankunft eines Kohlenschiffes Mitte Februar beendete den Notstand.",
    ],
    "zh": [
        "新年的第一个夜晚港口完全封冻，没有人能够乘船离开这座城市。"
        "渔民们拖着小船越过冰面，直到抵达灯塔后面的开阔水域。"
        "商人们抱怨面包的价格在短短一个星期之内上涨了一倍。",
        "星期天市议会命令每户人家交出一半的木柴。"
        "拒绝服从的人面临高额罚款，甚至可能被关进监狱。"
        "直到二月中旬一艘运煤船到达，紧急状态才宣告结束。",
    ],
    "ar": [
        "تجمد الميناء بالكامل في الليلة الأولى من العام الجديد ولم يتمكن أحد من مغادرة المدينة بالسفينة. "
        "جر الصيادون قواربهم فوق الجليد حتى وصلوا إلى المياه المفتوحة خلف المنارة. "
        "اشتكى التجار من أن سعر الخبز قد تضاعف خلال أسبوع واحد فقط.",
        "أمر المجلس يوم الأحد جميع الأسر بتسليم نصف ما لديها من الحطب. "
        "كان من يرفض ذلك مهددا بغرامة كبيرة وربما بالسجن أيضا. "
        "لم تنته حالة الطوارئ إلا بوصول سفينة محملة بالفحم في منتصف شباط.",
    ],
    "ko": [
        "새해 첫날 밤에 항구가 완전히 얼어붙어서 아무도 배를 타고 도시를 떠날 수 없었다. "
        "어부들은 등대 너머의 넓은 바다에 이를 때까지 얼음 위로 작은 배를 끌고 갔다. "
        "상인들은 빵 값이 겨우 한 주 만에 두 배로 올랐다고 불평하였다.",
        "일요일에 시 의회는 모든 가정에 장작의 절반을 내놓으라고 명령하였다. "
        "거부하는 사람은 무거운 벌금을 물거나 감옥에 갇힐 위험이 있었다. "
        "이월 중순에 석탄을 실은 배가 도착하고 나서야 비상사태가 끝났다.",
    ],
}
OWN = {
    "en": ["My grandmother told this story every winter while she was knitting beside the stove."],
    "de": ["Meine Großmutter erzählte diese Geschichte jeden Winter, während sie neben dem Ofen strickte."],
    "zh": ["我的祖母每年冬天坐在炉子旁边织毛衣的时候都会讲这个故事。"],
    "ar": ["كانت جدتي تروي هذه القصة كل شتاء وهي تحيك الصوف بجانب الموقد."],
    "ko": ["할머니는 겨울마다 난로 옆에서 뜨개질을 하시면서 이 이야기를 들려주셨다."],
}
