"""The final messages: what the agent says once its tools have answered."""

FINAL_MESSAGE_HEAT = "Your house needs {{claim:0}} of heat a year; a typical one gets by with 9,500 kWh."

FINAL_MESSAGE_SOLAR = "Panels on your roof would yield {{claim:0}} a year."
