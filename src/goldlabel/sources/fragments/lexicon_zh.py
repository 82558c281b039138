"""Chinese words.

No word that is not a negator holds one of 不没无未非, and none that is not a number holds a numeral other than 一:
what marks a negation or a number in a text can then be seen in the text.
"""

from __future__ import annotations

from goldlabel.sources.fragments.lexicon import Entry, Lexicons, entries, with_kinds

_WOMEN = entries(
    """李梅, 王芳, 张丽, 刘娜, 陈静, 杨雪, 赵敏, 黄燕, 周婷, 吴霞, 徐慧, 孙玉兰, 胡晓云, 朱红, 高洁, 林秀英, 何佳,
    郭蓉, 马琳, 罗薇, 梁颖, 宋佩华, 郑爱珍, 谢春花, 韩梦, 唐雅, 冯倩, 于淑芬, 董桂香, 萧月"""
)
_MEN = entries(
    """张伟, 王强, 李刚, 刘洋, 陈勇, 杨军, 赵磊, 黄涛, 周杰, 吴鹏, 徐斌, 孙浩, 胡志刚, 朱建国, 高峰, 林海, 何俊,
    郭亮, 马超, 罗文, 梁栋, 宋大伟, 郑凯, 谢东, 韩冰, 唐龙, 冯毅, 于波, 董健, 萧山"""
)
_ACTIONS = tuple(
    {"plain": verb["verb"] + verb["object"], "done": f"{verb['verb']}了{verb['object']}"}
    for verb in entries(
        """读/那份报告, 签/那封信, 看/那部电影, 参观/博物馆, 打扫/厨房, 粉刷/围墙, 修理/自行车, 浇/花, 喂/马,
        擦/窗户, 锁/大门, 拆/包裹, 清点/门票, 联系/酒店, 回答/那个问题, 核对/时刻表, 抄写/名单, 搬/桌子, 收拾/行李,
        清扫/院子, 煮/汤, 品尝/蛋糕, 烤/面包, 研究/地图, 检查/发动机, 关/店门, 听/讲座, 参加/音乐会, 画/那座桥,
        拍摄/那座塔, 缝补/大衣, 熨/衬衫, 整理/信件, 翻译/那首诗, 录制/那首歌, 打印/海报, 测量/房间, 割/草, 摘/苹果,
        写/总结, 批改/作文, 倒/垃圾, 归还/钥匙, 借/梯子, 预订/车票, 更换/灯泡, 清洗/地毯, 修剪/树枝, 布置/教室,
        查看/账目, 朗读/课文, 复习/功课, 准备/晚饭, 包/饺子, 泡/茶, 晒/被子, 寄/明信片, 装饰/大厅, 削/土豆, 劈/木柴,
        盖/印章, 填写/表格, 喷洒/农药, 观看/展览, 检修/空调, 拖/地板, 刷/油漆, 补/渔网, 贴/春联, 写/请假条,
        校对/稿件, 登记/车牌, 盘点/仓库, 拜访/校长, 登/那座山, 游览/古城, 练习/书法, 弹/那首曲子, 背诵/那篇课文,
        旁听/庭审, 购买/门票, 擦拭/餐具, 换/床单, 晾/衣服, 铺/桌布, 挂/窗帘, 种/向日葵, 收割/小麦, 捡/柴火""",
        "verb",
        "object",
    )
)
_TIMES = (
    *(
        {"self": day + part}
        for day in ("昨天", "前天", "大前天", "上周末")
        for part in ("", "清晨", "早上", "上午", "中午", "下午", "傍晚", "晚上")
    ),
    *entries("今天清晨, 今天早上, 今天上午, 除夕, 元旦, 中秋节, 端午节, 国庆节"),
)
_GROUPS = entries(
    """学生, 护士, 农民, 画家, 水手, 老师, 司机, 厨师, 保安, 乐手, 园丁, 职员, 工程师, 舞蹈演员, 飞行员, 裁缝,
    服务员, 图书管理员, 搬运工, 歌手, 水管工, 律师, 客人, 志愿者"""
)
_MODIFIERS = entries("新来的, 年轻的, 本地的, 已婚的, 外国的, 退休的, 左撇子, 高个子")
_DIMENSIONS = entries(
    """高/矮/一样高/最高/最矮/都高, 年纪大/年纪小/年纪一样大/年纪最大/年纪最小/年纪都大, 重/轻/一样重/最重/最轻/都重
    力气大/力气小/力气一样大/力气最大/力气最小/力气都大, 有钱/穷/一样有钱/最有钱/最穷/都有钱
    跑得快/跑得慢/跑得一样快/跑得最快/跑得最慢/跑得都快, 嗓门大/嗓门小/嗓门一样大/嗓门最大/嗓门最小/嗓门都大
    勇敢/胆小/一样勇敢/最勇敢/最胆小/都勇敢""",
    "more",
    "less",
    "same",
    "most",
    "least",
    "both",
)
_DIGITS = "零一两三四五六七八九"
_TENS = {1: "十", 2: "二十", 3: "三十"}
_NUMBERS = tuple(
    {"self": _DIGITS[value] if value < 10 else _TENS[value // 10] + ("", *"一二三四五六七八九")[value % 10]}
    for value in range(40)
)
_OBJECTS = entries(
    """苹果/个, 书/本, 椅子/把, 杯子/个, 铅笔/支, 邮票/张, 门票/张, 蜡烛/根, 台灯/盏, 盘子/个, 橙子/个, 鸡蛋/个,
    明信片/张, 雨伞/把, 钥匙/把, 毛巾/条, 篮子/个, 毯子/条, 帽子/顶, 衬衫/件, 勺子/把, 花瓶/个, 瓶子/个, 电池/节""",
    "self",
    "cl",
)
_DEALS = entries("买, 卖, 订购, 借到, 收到, 找到, 弄丢, 打包, 收集, 领取, 运送, 寄出")
_PLACES = entries(
    "办公室, 酒店, 车站, 图书馆里, 车间里, 码头上, 学校里, 花园里, 市场上, 村子里, 岛上, 剧院里",
)
_BELONGINGS = entries(
    """雨伞, 自行车, 相机, 吉他, 梯子, 笔记本电脑, 帐篷, 行李箱, 词典, 雨衣, 手电筒, 地图, 电钻, 小提琴, 笔记本, 割草机,
    皮划艇, 缝纫机, 望远镜, 睡袋"""
)
_TRANSITIVES = entries(
    """批评, 表扬, 邀请, 推荐, 采访, 打断, 提醒, 认出, 跟踪, 嘲笑, 说服, 欺骗, 拦住, 责怪, 警告, 投诉, 举报, 夸奖,
    挽留, 选中, 赶走, 劝住, 吵醒, 绊倒"""
)
_PORTRAYALS = entries("看见, 画, 拍到, 注意到, 描绘, 见到, 提到, 发现")


def _nouns(text: str) -> tuple[Entry, ...]:
    nouns = entries(text, "self", "cl")
    return tuple({"self": noun["self"], "a": f"一{noun['cl']}{noun['self']}", "key": noun["self"]} for noun in nouns)


_KINDS = with_kinds(
    (_nouns(kind)[0], _nouns(nouns))
    for kind, nouns in (
        ("花/朵", "玫瑰/朵, 郁金香/朵, 百合/朵, 菊花/朵, 兰花/朵, 牡丹/朵"),
        ("鸟/只", "麻雀/只, 老鹰/只, 猫头鹰/只, 天鹅/只, 乌鸦/只, 白鹭/只"),
        ("昆虫/只", "甲虫/只, 蜜蜂/只, 蚂蚁/只, 蝴蝶/只, 蜻蜓/只, 飞蛾/只"),
        ("水果/个", "苹果/个, 梨/个, 橘子/个, 柠檬/个, 桃子/个, 芒果/个"),
        ("工具/件", "锤子/把, 锯子/把, 铁锹/把, 钳子/把, 凿子/把, 扳手/把"),
        ("车/辆", "卡车/辆, 公共汽车/辆, 自行车/辆, 拖拉机/辆, 摩托车/辆, 救护车/辆"),
        ("船/条", "独木舟/只, 渡轮/艘, 游艇/艘, 木筏/只, 渔船/条, 帆船/艘"),
        ("家具/件", "衣柜/个, 沙发/张, 书桌/张, 书架/个, 茶几/张, 梳妆台/张"),
        ("乐器/件", "小提琴/把, 小号/支, 长笛/支, 大提琴/把, 竖琴/架, 吉他/把"),
        ("树/棵", "橡树/棵, 白桦/棵, 柳树/棵, 松树/棵, 枫树/棵, 杨树/棵"),
        ("鱼/条", "鲤鱼/条, 草鱼/条, 鳟鱼/条, 金枪鱼/条, 鲈鱼/条, 鳕鱼/条"),
        ("衣服/件", "大衣/件, 衬衫/件, 夹克/件, 毛衣/件, 马甲/件, 旗袍/件"),
    )
)
_SCENERY = tuple(
    {"a": f"一{noun['cl']}{noun['self']}", "key": noun["self"]}
    for noun in entries(
        """桥/座, 灯塔/座, 城堡/座, 雪山/座, 瀑布/条, 风车/架, 喷泉/座, 雕像/座, 宝塔/座, 悬崖/处, 隧道/条, 水井/口,
        谷仓/座, 石碑/块, 湖/片, 凉亭/座""",
        "self",
        "cl",
    )
)
_COLOURS = entries("红色, 蓝色, 绿色, 黄色, 黑色, 白色, 灰色, 棕色, 橙色, 紫色")
_MATERIALS = entries("木制/木头, 玻璃/玻璃, 塑料/塑料, 金属/金属, 陶瓷/陶瓷, 皮革/皮革", "self", "stuff")
_WARES = entries(
    """盒子/个, 托盘/个, 碗/个, 相框/个, 台灯/盏, 箱子/个, 手镯/个, 纽扣/颗, 面具/个, 摆件/件, 小雕像/尊, 瓶子/个,
    玩具/件, 吊坠/个, 牌子/块, 储物罐/个""",
    "self",
    "cl",
)
_ACHIEVED = entries("抽空, 设法, 被迫, 主动, 勉强, 顺利, 终于, 按时")
_KEPT = entries("没有忘记, 没忘记, 并没有忘记, 不得不")
_FAILED = entries("忘了, 忘记, 拒绝, 没能, 没来得及, 懒得, 没顾上, 没敢, 不肯, 没空")
_WISHED = entries("想, 打算, 希望, 答应, 准备, 计划, 愿意, 同意, 盼着, 提出要")
_KNEW = entries(
    """知道/不知道, 发现/没有发现, 注意到/没有注意到, 意识到/没有意识到, 察觉到/没有察觉到, 了解到/没有了解到,
    得知/没有得知, 记得/不记得""",
    "past",
    "neg",
)
_THOUGHT = entries("认为, 觉得, 猜, 相信, 听说, 说, 估计, 推测, 声称, 怀疑")
_MISTOOK = entries("误以为, 谎称, 错误地认为, 误认为, 错误地断定")

CHINESE: Lexicons = {
    "person": (*_WOMEN, *_MEN),
    "woman": _WOMEN,
    "man": _MEN,
    "action": _ACTIONS,
    "time": _TIMES,
    "group": _GROUPS,
    "modifier": _MODIFIERS,
    "dimension": _DIMENSIONS,
    "number": _NUMBERS,
    "object": _OBJECTS,
    "deal": _DEALS,
    "place": _PLACES,
    "belonging": _BELONGINGS,
    "transitive": _TRANSITIVES,
    "portrayal": _PORTRAYALS,
    **_KINDS,
    "scenery": _SCENERY,
    "colour": _COLOURS,
    "material": _MATERIALS,
    "ware": _WARES,
    "achieved": _ACHIEVED,
    "kept": _KEPT,
    "failed": _FAILED,
    "wished": _WISHED,
    "knew": _KNEW,
    "thought": _THOUGHT,
    "mistook": _MISTOOK,
}
